"""What goes to a provider and what comes back, as values that no provider's wire format leaks into."""

from dataclasses import dataclass, field
from typing import Literal

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Block, HostedBlock, Message
from openprogram.core.surface import Capability, Delta, Strategy
from openprogram.core.usage import CacheRules, Price, ProviderDiagnosis, Usage

Api = Literal["anthropic", "openai-responses", "openai-chat"]
Residency = Literal["resident", "deferred"]
"""Whether a tool's schema is declared from the start or only its name is in the catalog."""

# -- the request ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PromptBlocks:
    """The system prompt in tiers, most stable first. Nothing volatile is in here (C11, C12)."""

    stable: tuple[str, ...]
    session: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """All blocks in the order in which they are sent."""
        return self.stable + self.session


@dataclass(frozen=True, slots=True)
class ModelParams:
    """Sampling and output settings; None leaves the provider's default. `thinking_budget` is in tokens, 0 is off."""

    max_output_tokens: int | None = None
    temperature: float | None = None
    effort: Literal["low", "medium", "high"] | None = None
    thinking_budget: int = 0


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One model request: `tools` are neutral declarations in the surface's order, `messages` the active branch.

    `deferred` are declared and kept out of the prompt until one of the `deltas` refers to them. Deltas behind messages
    that are not in the branch are not sent. `allowed` are the declared tools that may be called, where the endpoint
    takes such a list and not all of them may (None: no list is sent).
    """

    model: str
    system: tuple[str, ...]
    tools: tuple[JsonObject, ...]
    messages: tuple[Message, ...]
    params: ModelParams = ModelParams()
    cache_key: str | None = None
    """Stable per session: where an endpoint takes a routing key for its prompt cache."""
    previous_length: int = 0
    """How many of `messages` the previous request to this endpoint held: where its newest breakpoint stood (C15)."""
    strategy: Strategy = "append"
    deferred: tuple[JsonObject, ...] = ()
    deltas: tuple[Delta, ...] = ()
    allowed: tuple[str, ...] | None = None
    thinking_after: str | None = None
    """Reasoning up to this message stays behind."""
    diagnose: bool = False
    """The endpoint is asked to compare this request with the one that `compared_with` answered (None: the first)."""
    compared_with: str | None = None
    thinking_since: str | None = None
    """Reasoning that was made before this answer stays behind; see `Surface.thinking_since`."""


SegmentKind = Literal["tool", "system", "message", "delta"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One unit of a request with bytes of its own, by digest (C18)."""

    kind: SegmentKind
    key: str
    digest: str


# -- the answer -------------------------------------------------------------------------------------------------

FailureCode = Literal[
    "bad_key",
    "no_credit",
    "rate_limited",
    "overloaded",
    "context_too_long",
    "model_not_found",
    "endpoint_down",
    "stream_cut",
    "bad_request",
    "bad_response",
    "refused",
]
FailureAction = Literal["fix_key", "add_credit", "wait", "retry", "compact", "choose_model", "check_endpoint", "none"]
StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal"]


@dataclass(frozen=True, slots=True)
class ProviderFailure:
    """A failure with an action for the user (P13). `message` is for people and holds no key."""

    code: FailureCode
    message: str
    action: FailureAction
    status: int | None = None
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The request goes out with this body, which holds no credentials; once for each try."""

    body: JsonObject
    type: Literal["request_sent"] = "request_sent"


@dataclass(frozen=True, slots=True)
class ResponseStarted:
    """The endpoint accepted the request: the first event of every answer that is not an immediate failure.

    `usage` is what it says of the prompt before it answers, for an answer that is stopped or breaks off.
    """

    usage: Usage = field(default_factory=Usage)
    type: Literal["response_started"] = "response_started"


@dataclass(frozen=True, slots=True)
class RetryScheduled:
    """Nothing was shown yet; the request is sent again after `delay_s` (P14)."""

    failure: ProviderFailure
    attempt: int
    delay_s: float
    type: Literal["retry_scheduled"] = "retry_scheduled"


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Text for the answer's block number `block`."""

    block: int
    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """Reasoning text for block number `block`."""

    block: int
    text: str
    type: Literal["reasoning"] = "reasoning"


@dataclass(frozen=True, slots=True)
class HostedPiece:
    """Block number `block`, which the provider made by itself, whole."""

    block: int
    hosted: HostedBlock
    type: Literal["hosted"] = "hosted"


@dataclass(frozen=True, slots=True)
class CallPiece:
    """Part of a tool call's arguments as JSON text; the first piece of a call may be empty."""

    block: int
    call_id: str
    name: str
    json_text: str
    type: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class Completed:
    """Last event of an answer that arrived whole: its blocks in order. `answer_id` is the endpoint's name for it."""

    blocks: tuple[Block, ...]
    stop_reason: StopReason
    usage: Usage
    answer_id: str | None = None
    diagnosis: ProviderDiagnosis | None = None
    type: Literal["completed"] = "completed"


@dataclass(frozen=True, slots=True)
class Failed:
    """Last event of one that did not: the blocks that had arrived, unfinished calls left out."""

    failure: ProviderFailure
    blocks: tuple[Block, ...] = ()
    usage: Usage = field(default_factory=Usage)
    type: Literal["failed"] = "failed"


ProviderEvent = (
    RequestSent
    | ResponseStarted
    | RetryScheduled
    | TextPiece
    | ReasoningPiece
    | HostedPiece
    | CallPiece
    | Completed
    | Failed
)


# -- endpoints --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counting:
    """How a model counts tokens, as far as it is known beforehand: what its usage tells takes precedence."""

    api: Api = "openai-chat"
    """The wire format, which decides what stands around a tool."""
    ratio: float = 1.0
    """Tokens of this model for one of o200k."""
    tool_overhead: int = 0
    """Tokens that the vendor adds to a request that declares any tool."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model as offered to the user; `id` is `endpoint/model`."""

    id: str
    endpoint: str
    model: str
    title: str
    context_window: int | None = None
    max_output_tokens: int | None = None
    price: Price | None = None
    capability: Capability = field(default_factory=Capability)
    counting: Counting = field(default_factory=Counting)
    caching: CacheRules = field(default_factory=CacheRules)
    demo: bool = False
