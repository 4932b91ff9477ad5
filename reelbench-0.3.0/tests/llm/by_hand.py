"""A cache of replies used without an event loop, one reply at a time: as a process that a test plays."""

from reelbench.llm.cache import ReplyCache as Cache
from reelbench.llm.cache import stored_now


class ReplyCache(Cache):
    def claim(self, key):
        return self.store.claim((key,))[key]

    def get(self, key):
        stored = super().get(key)
        return stored and stored.reply

    def put(self, key, model, reply):
        self.store.put((stored_now(key, model, reply),))

    def claimed_elsewhere(self, keys):
        return self.store.claimed_elsewhere(keys)

    def renew(self):
        self.store.renew()

    def release(self, key):
        self.store.release(key)
