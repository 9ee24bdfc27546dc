# The C++ library as other projects see it: librewardloop.so, its public headers, find_package(rewardloop).
