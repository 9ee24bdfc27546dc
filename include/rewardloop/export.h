// Symbols that librewardloop.so shows to other programs.
#pragma once

#define REWARDLOOP_EXPORT __attribute__((visibility("default")))
