"""Random numbers of user code: the same for an item, whatever runs beside it and however often it runs."""

import contextvars
import random


class CallRandom(random.Random):
    """The module `random`'s generator: each call draws from one of its own, seeded by the item."""

    def __init__(self):
        self.own = contextvars.ContextVar("rewardloop_random")
        self.seed_of_call = contextvars.ContextVar("rewardloop_seed", default=None)
        self.shared = random.Random()
        super().__init__()

    def generator(self):
        seed = self.seed_of_call.get()
        if seed is None:
            return self.shared
        generator = self.own.get(None)
        if generator is None:
            generator = random.Random(seed)
            self.own.set(generator)
        return generator

    def begin(self, seed):
        self.seed_of_call.set(seed)
        self.own.set(None)

    def random(self):
        return self.generator().random()

    def getrandbits(self, count):
        return self.generator().getrandbits(count)

    def seed(self, *args, **kwargs):
        if hasattr(self, "shared"):
            self.generator().seed(*args, **kwargs)

    def getstate(self):
        return self.generator().getstate()

    def setstate(self, state):
        self.generator().setstate(state)

    def gauss(self, *args, **kwargs):
        return self.generator().gauss(*args, **kwargs)

    @classmethod
    def install(cls):
        instance = cls()
        for name in dir(random):
            value = getattr(random, name)
            if getattr(value, "__self__", None) is random._inst:
                setattr(random, name, getattr(instance, name))
        random._inst = instance
        return instance
