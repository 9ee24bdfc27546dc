"""Several items a call, for functions that are cheaper together: a list of dicts in, a value each out."""


def score(items):
    texts = [item["response"] for item in items]
    lengths = [len(text.split()) for text in texts]  # a model would be asked for all of them at once here
    return [min(length, 4) / 4 for length in lengths]
