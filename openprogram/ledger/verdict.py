"""The cache verdict of one step: tokens read, and tokens that the endpoint held and did not reuse, with the cause."""

from openprogram.core.surface import SurfacePlan
from openprogram.core.usage import CacheVerdict, Usage


def verdict(previous: Usage | None, current: Usage, plan: SurfacePlan) -> CacheVerdict:
    """Compare a step with the one before it at the same endpoint.

    What could have been read is the whole previous prompt; what was not is missed. Unknown where either side's
    prompt or the read is: a provider that reports no cache has no verdict, which is not the same as a miss.
    """
    if current.cache_read is None:
        return CacheVerdict(None, None)
    if previous is None or previous.prompt is None:
        return CacheVerdict(current.cache_read, None)
    missed = max(0, previous.prompt - current.cache_read)
    cause = None if plan.kind == "keep" or not missed else plan.reason
    return CacheVerdict(current.cache_read, missed, cause)
