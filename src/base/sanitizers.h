// Whether a sanitizer slows this build down and changes what memory means: for tests that bound time or memory.
#pragma once

// g++ defines macros, clang 19 answers __has_feature.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REWARDLOOP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REWARDLOOP_SANITIZED 1
#endif
#endif
#ifndef REWARDLOOP_SANITIZED
#define REWARDLOOP_SANITIZED 0
#endif
