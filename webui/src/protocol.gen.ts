/**
 * The protocol's types. Generated: `python scripts/gen_protocol.py`, then `npm run gen:protocol`.
 */


export type Action = (Chat | Stop | ContinueTurn | Compact | EditMessage | Regenerate | SelectBranch | EditQueue | SetToolsProfile | ToggleWebSearch | SetToolsEnabled | SetToolDisabled | PickTools | ExplainTools | ForceRebase | InspectCache | InspectStep | PreviewModels | PreviewSend | PreviewToggle | UsageTotals | Subscribe | Unsubscribe | CreateSession | ListSessions | RenameSession | PinSession | DeleteSession | RestoreSession | LoadMessages | SetModel | SetWorkspace | SetPermissionMode | AnswerApproval | AnswerQuestion | ListModels | GetSettings | SetSetting | SavePreset | DeletePreset | Ping)
export type JsonValueInput = (string | number | boolean | JsonValueInput[] | {
[k: string]: JsonValueInput
} | null)
export type JsonValueOutput = (string | number | boolean | JsonValueOutput[] | {
[k: string]: JsonValueOutput
} | null)
export type Event = (MessageAdded | TurnAccepted | TurnStarted | StepStarted | TextDelta | ReasoningDelta | HostedAdded | ToolCallDelta | ToolCallStarted | ToolOutputDelta | ToolCallFinished | StepFinished | TurnFinished | CompactionStarted | Compacted | LoadedChanged | IntentChanged | ApprovalRequested | ApprovalResolved | QuestionAsked | QuestionAnswered | QueueChanged | BranchSelected | SessionChanged | Notice | ErrorRaised)
export type ServerFrame = (Hello | ChatAck | IntentAck | SubscribeAck | SessionsAck | MessagesAck | SettingsAck | ModelsAck | ToolsAck | CacheAck | StepAck | UsageAck | PreviewAck | SendPreviewAck | ModelPricesAck | SessionAck | Ack | ErrorFrame | EventFrame | Snapshot | HintFrame | PingFrame | Pong)

/**
 * Done, with nothing more to say.
 */
export interface Ack {
id: string
type: "ack"
}
/**
 * Send a message; `session_id` null makes a new chat. While a turn runs, `send` queues and `steer` steers.
 */
export interface Chat {
action: "chat"
attachments?: string[]
id: string
mode?: ("send" | "queue" | "steer")
override?: ((Override | OlderOverride | string[]) | null)
session_id?: (string | null)
text: string
}
/**
 * A tool intent as a client says it (spec tools.md section 1); null fields fall through.
 */
export interface Override {
allowed?: (string[] | null)
disabled?: (string[] | null)
enabled?: (boolean | null)
picked?: (string[] | null)
toolset?: (string | null)
web_search?: (boolean | null)
}
/**
 * What older programs write where web search was not added: `web_search` false beside other fields, no `picked`.
 * 
 * It says nothing about web search. To take that away, say `picked` too (null), or `web_search` alone.
 */
export interface OlderOverride {
allowed?: (string[] | null)
disabled?: (string[] | null)
enabled?: (boolean | null)
toolset?: (string | null)
web_search: false
}
/**
 * End the running turn within a second, keeping what was shown (P7).
 */
export interface Stop {
action: "stop"
id: string
session_id: string
}
/**
 * Go on after a turn that ended interrupted, stopped, at a limit or cut.
 */
export interface ContinueTurn {
action: "continue_turn"
id: string
session_id: string
}
/**
 * Have the conversation so far summarised: from then on the model sees the summary in its place.
 */
export interface Compact {
action: "compact"
id: string
session_id: string
}
/**
 * Send another text in place of an earlier user message: a sibling branch (P8).
 */
export interface EditMessage {
action: "edit_message"
id: string
message_id: string
session_id: string
text: string
}
/**
 * Answer a user message again, as a sibling of the answer `message_id`.
 */
export interface Regenerate {
action: "regenerate"
id: string
message_id: string
session_id: string
}
/**
 * Make the branch through `message_id` the active one, down to its newest leaf.
 */
export interface SelectBranch {
action: "select_branch"
id: string
message_id: string
session_id: string
}
/**
 * Change a message's text while it waits, null removes it. `send` lets it go now (null: as it is).
 */
export interface EditQueue {
action: "edit_queue"
id: string
queued_id: string
send?: boolean
session_id: string
text: (string | null)
}
/**
 * Choose a preset; null follows the profile again.
 */
export interface SetToolsProfile {
action: "set_tools_profile"
id: string
session_id: string
toolset: (string | null)
}
/**
 * The chip: true adds web search, false takes it away everywhere, null leaves it to the preset.
 */
export interface ToggleWebSearch {
action: "toggle_web_search"
id: string
session_id: string
value: (boolean | null)
}
/**
 * The master switch; null follows the profile.
 */
export interface SetToolsEnabled {
action: "set_tools_enabled"
id: string
session_id: string
value: (boolean | null)
}
/**
 * Switch one tool off (`value` true) or stop switching it off (false).
 */
export interface SetToolDisabled {
action: "set_tool_disabled"
id: string
name: string
session_id: string
value: boolean
}
/**
 * The user's own short selection in place of a preset; null goes back to the preset.
 */
export interface PickTools {
action: "pick_tools"
id: string
session_id: string
tools: (string[] | null)
}
/**
 * Ask for every tool with its state and reason, and for the layer that decided each field.
 */
export interface ExplainTools {
action: "explain_tools"
id: string
session_id: string
}
/**
 * Declare the chat's tools anew with the next request, which drops what is masked or no longer needed.
 * 
 * The ack says what that costs at the next send, and what each turn saves from then on; `preview_toggle` says it
 * before.
 */
export interface ForceRebase {
action: "force_rebase"
id: string
session_id: string
}
/**
 * Ask for a row per model request: tokens read, written, uncached, output, the cost so far, causes of misses.
 * 
 * `limit` leaves out all but the newest rows; the sums are over all.
 */
export interface InspectCache {
action: "inspect_cache"
id: string
limit?: (number | null)
session_id: string
}
/**
 * Ask for one request's segments and where it first differs from the one before it at the same endpoint.
 * 
 * `body` true: with the exact body that was sent, in which configured secrets are replaced.
 */
export interface InspectStep {
action: "inspect_step"
body?: boolean
id: string
session_id: string
step: number
turn_id: string
}
/**
 * Ask what the next message would read anew at each of the models, before one is chosen.
 */
export interface PreviewModels {
action: "preview_models"
id: string
session_id: string
}
/**
 * Ask what the next message would read anew, before it is sent: after a break, or with another model.
 */
export interface PreviewSend {
action: "preview_send"
id: string
session_id: string
}
/**
 * Ask what a switch would cost before it is flipped. `toggle` is the action, the other fields are that action's.
 */
export interface PreviewToggle {
action: "preview_toggle"
id: string
model?: (string | null)
name?: (string | null)
session_id: string
toggle: ("set_tools_profile" | "toggle_web_search" | "set_tools_enabled" | "set_tool_disabled" | "pick_tools" | "set_model" | "force_rebase")
tools?: (string[] | null)
toolset?: (string | null)
value?: (boolean | null)
}
/**
 * Ask what all the user's chats used, by chat, model, day and kind of request.
 */
export interface UsageTotals {
action: "usage"
id: string
}
/**
 * Events after `after_seq`, then live; `session_id` null gives unnumbered hints for the sidebar.
 */
export interface Subscribe {
action: "subscribe"
after_seq?: (number | null)
id: string
session_id: (string | null)
snapshot?: boolean
}
/**
 * No more events of this session on this socket.
 */
export interface Unsubscribe {
action: "unsubscribe"
id: string
session_id: (string | null)
}
/**
 * A draft: it takes switches at once and appears in the sidebar with its first message.
 * 
 * `tools` is the intent of a chat that comes from elsewhere, in place of the user's default for new chats.
 */
export interface CreateSession {
action: "create_session"
id: string
model?: (string | null)
title?: (string | null)
tools?: ((Override | OlderOverride | string[]) | null)
workspace?: (string | null)
}
/**
 * The user's chats, newest first: those behind the one whose `updated_at` and `id` are `before` and `before_id`.
 */
export interface ListSessions {
action: "list_sessions"
before?: (string | null)
before_id?: (string | null)
deleted?: boolean
id: string
limit?: number
}
/**
 * Give the chat a title.
 */
export interface RenameSession {
action: "rename_session"
id: string
session_id: string
title: string
}
/**
 * Keep the chat at the top, or no longer.
 */
export interface PinSession {
action: "pin_session"
id: string
session_id: string
value: boolean
}
/**
 * Hide the chat; `restore_session` brings it back.
 */
export interface DeleteSession {
action: "delete_session"
id: string
session_id: string
}
/**
 * Bring a deleted chat back.
 */
export interface RestoreSession {
action: "restore_session"
id: string
session_id: string
}
/**
 * Messages of the active branch before `before` (a message id; null: the end).
 */
export interface LoadMessages {
action: "load_messages"
before?: (string | null)
id: string
limit?: number
session_id: string
}
/**
 * Choose `endpoint/model` for the turns to come; null is the server's default.
 */
export interface SetModel {
action: "set_model"
id: string
model: (string | null)
session_id: string
}
/**
 * Work in another directory from the next turn on; null is the server's default.
 */
export interface SetWorkspace {
action: "set_workspace"
id: string
session_id: string
workspace: (string | null)
}
/**
 * ask, accept_edits or auto; read at each dispatch, so it applies at once.
 */
export interface SetPermissionMode {
action: "set_permission_mode"
id: string
mode: ("ask" | "accept_edits" | "auto")
session_id: string
}
/**
 * Answer a pending approval once, from any tab.
 */
export interface AnswerApproval {
action: "answer_approval"
approval_id: string
decision: ("once" | "session" | "deny")
id: string
note?: (string | null)
session_id: string
}
/**
 * Answer a pending question once, from any tab: labels of choices, words of one's own, or neither to skip it.
 */
export interface AnswerQuestion {
action: "answer_question"
chosen?: string[]
id: string
question_id: string
session_id: string
text?: (string | null)
}
/**
 * The models that can be chosen now; the hint `models_changed` says that there are others.
 */
export interface ListModels {
action: "list_models"
id: string
}
/**
 * The user's settings.
 */
export interface GetSettings {
action: "get_settings"
id: string
}
/**
 * Change one setting; null goes back to its default.
 */
export interface SetSetting {
action: "set_setting"
id: string
key: string
value: JsonValueInput
}
/**
 * Make a preset of the user's own, or put another in its place.
 * 
 * `entries` apply in order after what is included: a tool's name, a pattern, an attribute such as `@readonly`; with
 * `-` in front it takes away.
 */
export interface SavePreset {
action: "save_preset"
description?: string
/**
 * @maxItems 200
 */
entries?: string[]
id: string
/**
 * @maxItems 50
 */
includes?: string[]
name: string
title?: string
}
/**
 * Forget a preset of the user's own. Chats that use it keep their intent and say that it is gone.
 */
export interface DeletePreset {
action: "delete_preset"
id: string
name: string
}
/**
 * Answered by pong.
 */
export interface Ping {
action: "ping"
id: string
}
/**
 * A call waits for a person. `preview` is the exact command, or a unified diff without its last `left_out` lines;
 * `digest` tells calls apart by all that they would do; `pattern` is what "for this chat" would allow, in `directory`
 * only; that is empty where the directory does not matter, and None in what was asked before this field existed.
 */
export interface ApprovalRequested {
approval_id: string
arguments: {
[k: string]: JsonValueOutput
}
call_id: string
digest: string
directory: (string | null)
kind: ("command" | "diff" | "call")
left_out: number
pattern: string
preview: string
reason: string
tool: string
turn_id: string
type: "approval_requested"
}
/**
 * An approval is answered, or moot (`decision` None: the turn ended first). `held` names its call where nothing
 * begins by this: the turn waits since a restart, and goes on with its last answer.
 */
export interface ApprovalResolved {
approval_id: string
decision: (("once" | "session" | "deny") | null)
held: (string | null)
note: (string | null)
type: "approval_resolved"
}
/**
 * The active branch now ends in `leaf_id` (None: before the first message).
 */
export interface BranchSelected {
leaf_id: (string | null)
type: "branch_selected"
}
/**
 * A chat's requests in the order of sending (`inspect_cache`), without the oldest `left_out`.
 */
export interface CacheAck {
cache: CacheState
id: string
left_out: number
session_id: string
steps: CacheStep[]
totals: CacheTotals
type: "ack"
}
/**
 * Whether the endpoint still holds the chat's prompt. The next send reads about `tokens` again; that costs
 * `cost_warm` dollars while it is warm, and `cost_cold` when it is not. `forced`: the next request declares the tools
 * anew, as the user asked for.
 */
export interface CacheState {
cost_cold: (number | null)
cost_warm: (number | null)
forced: boolean
model: (string | null)
state: ("warm" | "cold" | "none" | "unknown")
tokens: (number | null)
warm_until: (string | null)
}
/**
 * One model request. What is not known (not reported, not answered, no price) is null.
 * 
 * `hit` is the share of its prompt that was read from the cache, `reused` the share of the prompt before it that could
 * be read and was. `missed` tokens were held by the endpoint and not reused; reading them would have saved `lost`
 * dollars. `provider` is the provider's own diagnosis, where it offers one. `moved` are the switches and tools that
 * the request tells of, such as `withdrawn:bash`.
 */
export interface CacheStep {
at: string
below_minimum: boolean
cause: (("toggle" | "discovery" | "mcp" | "clock" | "compaction" | "edit" | "model" | "ttl" | "restart" | "provider" | "rebase" | "user" | "settings" | "program") | null)
cost: (number | null)
cost_so_far: (number | null)
difference: (FirstDifference | null)
hit: (number | null)
lost: (number | null)
message_id: string
missed: (number | null)
model: string
moved: string[]
plan: string
prompt: (number | null)
provider: (ProviderDiagnosis | null)
reason: string
reused: (number | null)
step: number
turn_id: string
usage: (Usage | null)
}
/**
 * The first segment in which a request differs from the one before it, and the byte in it.
 * 
 * `before` and `after` are the text around that byte, `room` characters of which stand before it.
 */
export interface FirstDifference {
after: string
before: string
byte: number
index: number
name: string
room: number
section: ("tools" | "system" | "messages")
}
/**
 * What a provider says of a request against the one before it: where they differ in its own word, such as
 * `tools_changed`, and how many tokens that cost, where it tells.
 */
export interface ProviderDiagnosis {
missed: (number | null)
said: string
}
/**
 * Tokens of one model request.
 */
export interface Usage {
cache_read: (number | null)
cache_write_1h: (number | null)
cache_write_5m: (number | null)
output: (number | null)
reasoning: (number | null)
searches: (number | null)
uncached: (number | null)
}
/**
 * All counted requests of a chat, titles and subagents included. Sums are over what is known.
 * 
 * `reused` is the share of cacheable input that was read, by tokens, from the second request on; `hit` that of all
 * input of the requests whose endpoint told what it read. `missed` is null where something could have been read, and
 * no endpoint told.
 */
export interface CacheTotals {
cost: (number | null)
hit: (number | null)
lost: (number | null)
missed: (number | null)
requests: number
reused: (number | null)
unpriced: number
usage: Usage
}
/**
 * What the cache did in one step: tokens read and not read that could have been, with the cause of a miss.
 * 
 * `provider` is the provider's own diagnosis, where it offers one and has something to say.
 */
export interface CacheVerdict {
cause: (string | null)
missed: (number | null)
provider: (ProviderDiagnosis | null)
read: (number | null)
}
/**
 * The message is stored. `queued`: it waits for the running turn; then `message_id` is its id in the queue.
 */
export interface ChatAck {
id: string
message_id: string
queued: boolean
session_id: string
type: "ack"
}
/**
 * What the web-search chip really is now, with the reason when it is not simply what was clicked.
 */
export interface ChipEffect {
reason: (string | null)
state: ("off" | "on" | "unavailable")
}
/**
 * One answer to choose; `label` is what the model gets back.
 */
export interface Choice {
description: string
label: string
}
/**
 * A compaction is over. When it is `done`, `message_id` is the summary, which stands in the chat since the same
 * commit; else nothing has changed. What was asked of the model for it is counted here either way.
 */
export interface Compacted {
cost: (number | null)
message_id: (string | null)
model: string
outcome: ("done" | "stopped" | "failed")
request_id: string
turn_id: string
type: "compacted"
usage: Usage
}
/**
 * What a summary stands for on its branch. Token counts are estimates where the endpoint had not counted.
 * 
 * `kept_from` is the first message behind the cut (None: all that stood there was summarised); `user_message` is the
 * newest one of the user, which stays wherever the cut is. `cost` is what the summary cost, `saving` what each further
 * request costs less while it is read from the cache, both in US dollars where the price is known.
 */
export interface Compaction {
cost: (number | null)
kept_from: (string | null)
saving: (number | null)
tokens_after: number
tokens_before: number
trigger: ("full" | "refused" | "asked")
user_message: (string | null)
}
/**
 * The model is asked for a summary. `turn_id` is the turn that waits for it; `request_id` is that of the request,
 * which counts as a turn of its own.
 */
export interface CompactionStarted {
request_id: string
tokens_before: number
trigger: ("full" | "refused" | "asked")
turn_id: string
type: "compaction_started"
}
/**
 * Which layer decided a field of the merged intent, and to what.
 */
export interface Decided {
field: ("enabled" | "toolset" | "web_search" | "disabled" | "picked" | "allowed")
layer: ("override" | "session" | "project" | "profile" | "default")
value: (boolean | string | string[] | null)
}
/**
 * The effective state that the interface shows, as opposed to the stored intent.
 */
export interface Effective {
web_search: ChipEffect
}
/**
 * Nothing was applied. `code` is stable, `message` and `hint` are for people, `field` a dotted path.
 */
export interface ErrorFrame {
code: string
field: (string | null)
hint: (string | null)
id: (string | null)
message: string
type: "error"
}
/**
 * A failure as shown to a person: stable code, what happened, what to do about it.
 */
export interface ErrorInfo {
action: ("fix_key" | "add_credit" | "wait" | "retry" | "compact" | "choose_model" | "check_endpoint" | "none")
code: string
hint: (string | null)
message: string
retry_after_s: (number | null)
}
/**
 * Something went wrong outside a turn, or keeps one from starting, which then ends.
 */
export interface ErrorRaised {
error: ErrorInfo
type: "error"
}
/**
 * One event of a subscribed chat; gapless: `from_seq` (default `seq`) is the previous frame's `seq` plus one.
 */
export interface EventFrame {
at: string
event: Event
from_seq: (number | null)
seq: number
session_id: string
type: "event"
}
/**
 * A message is part of the chat, whole and final. The active branch now ends in it.
 */
export interface MessageAdded {
message: Message
type: "message_added"
}
/**
 * One node of the tree. `parent_id` None is a root; `model` is `endpoint/model` for answers.
 * 
 * `override` is what a user message asks of tools for its own turn only (spec tools.md T9). `sender` is the chat that
 * a user message came from; None: a person wrote it. A notice with a `compaction` is a summary of what is above.
 */
export interface Message {
blocks: (TextBlock | ReasoningBlock | ToolUseBlock | ToolResultBlock | HostedBlock)[]
compaction: (Compaction | null)
created_at: string
id: string
model: (string | null)
override: (ToolIntent | null)
parent_id: (string | null)
role: ("user" | "assistant" | "tool" | "notice")
sender: (Sender | null)
status: ("complete" | "stopped" | "interrupted" | "error" | "cut")
turn_id: (string | null)
}
/**
 * Text: Markdown from people and models, plain from tools.
 */
export interface TextBlock {
text: string
type: "text"
}
/**
 * A model's reasoning, to be returned byte for byte to the model that made it and to no other.
 * 
 * `signature` proves it to that provider (None: it cannot be sent back); `redacted` is the opaque form some have.
 * `duration_ms` is for the interface only: how long it was seen to take, None where that is not known.
 */
export interface ReasoningBlock {
duration_ms: (number | null)
redacted: (string | null)
signature: (string | null)
text: string
type: "reasoning"
}
/**
 * A call that the model asks for. Every one has exactly one result (design law 7).
 * 
 * `bridged`: the model asked through `core.surface.BRIDGE_NAME`, and is shown its call in that form again.
 */
export interface ToolUseBlock {
arguments: {
[k: string]: JsonValueOutput
}
bridged: boolean
call_id: string
name: string
type: "tool_use"
}
/**
 * The result of one call. For the interface only: `display` (a diff, search hits, an exit code) and `duration_ms`,
 * how long the tool itself ran. That is 0 for a call that never began, and None where it is not known.
 */
export interface ToolResultBlock {
call_id: string
content: (TextBlock | ImageBlock)[]
display: ({
[k: string]: JsonValueOutput
} | null)
duration_ms: (number | null)
status: ("ok" | "error" | "denied" | "stopped" | "interrupted")
type: "tool_result"
}
/**
 * A picture, scaled to what models take: `data` is Base64, `width` and `height` are in pixels.
 */
export interface ImageBlock {
data: string
height: number
media_type: ("image/png" | "image/jpeg")
type: "image"
width: number
}
/**
 * What a provider did by itself in its answer: a `search`, what it `found`, the `sources` of the text before it, or
 * a `pause` in which it wants to be asked to go on.
 * 
 * `items` are what its API sent, to go back verbatim to the model that made them; another one is told `text`.
 * `hosted_id` joins a search to what it found; `error` is the provider's word for why it found nothing.
 */
export interface HostedBlock {
error: (string | null)
hosted_id: string
items: {
[k: string]: JsonValueOutput
}[]
kind: ("search" | "found" | "sources" | "pause")
query: string
sources: Source[]
type: "hosted"
}
/**
 * A page that a search found or a text rests on.
 */
export interface Source {
title: string
url: string
}
/**
 * One layer's wishes; `None` in a field falls through to the layer below.
 * 
 * `disabled` is kept sorted and without duplicates, so that equal wishes are equal values. `picked` keeps its order.
 */
export interface ToolIntent {
allowed: (string[] | null)
disabled: string[]
enabled: (boolean | null)
picked: (string[] | null)
toolset: (string | null)
web_search: (boolean | null)
}
/**
 * The chat that a message came from, and how many chats have passed it on since a person spoke.
 */
export interface Sender {
depth: number
session_id: string
title: string
}
/**
 * A turn runs from here, though its contract is still being prepared: `turn_started` follows, or its end.
 */
export interface TurnAccepted {
turn_id: string
type: "turn_accepted"
}
/**
 * The contract of a turn is frozen. `tools` are the authorised names in order, `residency` how each is shown.
 */
export interface TurnStarted {
fingerprint: string
intent_revision: number
registry_version: number
residency: {
[k: string]: "resident" | "deferred"
}
tools: string[]
turn_id: string
type: "turn_started"
}
/**
 * A model request goes out; its answer will be `message_id`. Of the declared tools `loaded` are those discovered,
 * `resident` the others; `deferred_count` more are authorised. `segments` follow `kept` ones of the request before.
 */
export interface StepStarted {
causes: string[]
deferred_count: number
kept: number
loaded: string[]
message_id: string
model: string
parent_id: (string | null)
plan: SurfacePlan
reason: string
resident: string[]
segments: Segment[]
step: number
turn_id: string
type: "step_started"
}
/**
 * How the next surface differs from the last, with the reason and the price of the choice.
 * 
 * `withdrawn` and `restored` are tools whose mask changes: the model is told in the newest message. `added` are
 * shown with their schemas for the first time in this epoch. `predicted_loss` counts the cached tokens that the plan
 * gives up, where known.
 */
export interface SurfacePlan {
added: string[]
declared: string[]
epoch: number
kind: ("rebase" | "keep" | "append" | "delta")
masked: string[]
predicted_loss: (number | null)
reason: ("first_request" | "cold" | "model_changed" | "system_changed" | "forced" | "economy" | "provider" | "compacted" | "summary" | "unchanged" | "added" | "withdrawn" | "restored" | "discovered" | "search_on" | "search_off")
restored: string[]
strategy: ("inline_changes" | "reference_changes" | "tool_reference" | "additional_tools" | "client_tool_search" | "append" | "bridge" | "frozen")
withdrawn: string[]
}
/**
 * One unit of a request with bytes of its own, by digest (C18).
 */
export interface Segment {
digest: string
key: string
kind: ("tool" | "system" | "message" | "delta")
}
/**
 * More text of block `block` of the message being answered.
 */
export interface TextDelta {
block: number
message_id: string
text: string
type: "text_delta"
}
/**
 * More reasoning text.
 */
export interface ReasoningDelta {
block: number
message_id: string
text: string
type: "reasoning_delta"
}
/**
 * Block `block` of the message being answered, which the provider made by itself: a search, or what it found.
 */
export interface HostedAdded {
block: number
hosted: HostedBlock
message_id: string
type: "hosted_added"
}
/**
 * More of the JSON text of a call's arguments.
 */
export interface ToolCallDelta {
block: number
call_id: string
message_id: string
name: string
text: string
type: "tool_call_delta"
}
/**
 * A call is dispatched: from here its effect may happen.
 */
export interface ToolCallStarted {
arguments: {
[k: string]: JsonValueOutput
}
call_id: string
message_id: string
name: string
turn_id: string
type: "tool_call_started"
}
/**
 * More output of a running call.
 */
export interface ToolOutputDelta {
call_id: string
text: string
type: "tool_output_delta"
}
/**
 * A call has its result. `discovered` are the deferred tools that it asked to have loaded.
 */
export interface ToolCallFinished {
call_id: string
discovered: string[]
duration_ms: number
result: ToolResultBlock
status: ("ok" | "error" | "denied" | "stopped" | "interrupted")
type: "tool_call_finished"
}
/**
 * A model request is answered. `usage` is as reported, `cost` in US dollars where the price is known, `answer_id`
 * the endpoint's own name for the answer, where it gives one.
 */
export interface StepFinished {
answer_id: (string | null)
cache: CacheVerdict
cost: (number | null)
duration_ms: number
first_token_ms: (number | null)
message_id: string
model: string
step: number
turn_id: string
type: "step_finished"
usage: Usage
}
/**
 * A turn is over, or could not start. `cut`: at the model's output limit, `limit`: at the limit of steps.
 */
export interface TurnFinished {
error: (ErrorInfo | null)
reason: ("done" | "stopped" | "error" | "interrupted" | "limit" | "cut")
turn_id: string
type: "turn_finished"
}
/**
 * The whole loaded set as it is now, in order of discovery; `added` came with this change.
 */
export interface LoadedChanged {
added: string[]
loaded: string[]
type: "loaded_changed"
}
/**
 * The chat's tool intent changed.
 */
export interface IntentChanged {
effective: Effective
intent: ToolIntent
revision: number
type: "intent_changed"
}
/**
 * A call asks a person something and waits. The event shows it in every tab until it is answered or moot.
 */
export interface QuestionAsked {
call_id: string
question: Question
question_id: string
turn_id: string
type: "question_asked"
}
/**
 * What is asked. `multiple`: several choices may be taken; `free_text`: words of one's own may be given, too.
 */
export interface Question {
choices: Choice[]
free_text: boolean
multiple: boolean
text: string
}
/**
 * A question is answered, or moot (`answer` None: the turn ended first). `held` names its call where the turn waits
 * since a restart, and goes on with its last answer.
 */
export interface QuestionAnswered {
answer: (QuestionAnswer | null)
held: (string | null)
question_id: string
type: "question_answered"
}
/**
 * The labels that were chosen, in the order of the choices, and words of the person's own. Neither: skipped.
 */
export interface QuestionAnswer {
chosen: string[]
text: (string | null)
}
/**
 * The whole queue as it is now.
 */
export interface QueueChanged {
queue: QueuedMessage[]
type: "queue_changed"
}
/**
 * A message that waits for the running turn; `steer` is delivered after the current tool results.
 */
export interface QueuedMessage {
created_at: string
id: string
mode: ("queue" | "steer")
override: (ToolIntent | null)
sender: (Sender | null)
text: string
}
/**
 * Title, pin, model, mode or the like changed; the whole new description.
 */
export interface SessionChanged {
session: SessionInfo
type: "session_changed"
}
/**
 * A chat as the sidebar shows it. A draft (`visible` false) has no message yet.
 */
export interface SessionInfo {
created_at: string
deleted: boolean
id: string
leaf_id: (string | null)
model: (string | null)
permission_mode: ("ask" | "accept_edits" | "auto")
pinned: boolean
status: ("idle" | "running" | "waiting")
title: string
updated_at: string
visible: boolean
workspace: (string | null)
}
/**
 * Something worth a quiet line: a retry, a tool name that no tool has, a turn that resumed.
 */
export interface Notice {
code: string
message: string
type: "notice"
}
/**
 * The chat's picked names look like a copy of what `preset` once meant: following it brings new tools again.
 * 
 * `web_search`: the copy had it and the preset has not, so following takes the chip too.
 */
export interface FollowOffer {
preset: string
web_search: boolean
}
/**
 * First frame on a socket.
 */
export interface Hello {
boot_id: string
default_model: (string | null)
models: ModelChoice[]
presets: PresetInfo[]
server: string
type: "hello"
user: UserInfo
version: string
workspace: string
}
/**
 * A model that a chat can use; `id` goes into `set_model`.
 */
export interface ModelChoice {
context_window: (number | null)
demo: boolean
endpoint: string
id: string
title: string
}
/**
 * A preset that a chat can use; `name` goes into `set_tools_profile`. Those of `source` user can be changed.
 */
export interface PresetInfo {
description: string
entries: string[]
includes: string[]
name: string
source: ("builtin" | "config" | "user")
title: string
}
/**
 * Who is signed in.
 */
export interface UserInfo {
id: string
name: string
}
/**
 * Unnumbered news for the sidebar (`subscribe` with `session_id` null).
 */
export interface HintFrame {
hint: ("session_changed" | "registry_changed" | "settings_changed" | "models_changed")
session: (SessionInfo | null)
type: "hint"
}
/**
 * The intent is stored. `now` if no turn runs or the change only takes away, else `next_turn`.
 */
export interface IntentAck {
applies: ("now" | "next_turn")
id: string
revision: number
session_id: string
type: "ack"
}
/**
 * A page of the active branch, oldest first. `siblings` maps a message with siblings to all of them, in order;
 * `steps` are the requests that the page's answers came from, as far as they are known.
 */
export interface MessagesAck {
id: string
messages: Message[]
more: boolean
session_id: string
siblings: {
[k: string]: string[]
}
steps: StepFinished[]
type: "ack"
}
/**
 * What the next message reads anew if it goes to this model.
 */
export interface ModelPrice {
model: string
reread: Reread
}
/**
 * Tokens of the conversation so far that are billed anew, though they were read or written before, for `cost`
 * dollars at the rate at which new input is billed.
 * 
 * 0 where all is read from the cache, null where it is not known. `costly`: more than the user's setting
 * `costly_send` lets pass without a word.
 */
export interface Reread {
cost: (number | null)
costly: boolean
tokens: (number | null)
}
/**
 * What the next message would read anew at each model (`preview_models`), as the choice of models has them.
 */
export interface ModelPricesAck {
id: string
prices: ModelPrice[]
session_id: string
type: "ack"
}
/**
 * The models that can be chosen now, as in `hello`.
 */
export interface ModelsAck {
default_model: (string | null)
id: string
models: ModelChoice[]
type: "ack"
}
/**
 * A quiet line or an error that is part of no message: it stands behind message `after_id` (None: before all).
 */
export interface Note {
after_id: (string | null)
event: (Notice | ErrorRaised)
}
/**
 * The answer that is being written: text and reasoning so far by block, calls whose arguments are being written.
 */
export interface PartialAnswer {
at: string[]
events: Event[]
message_id: string
model: string
parent_id: (string | null)
started_at: (string | null)
step: number
turn_id: string
}
/**
 * Each 10 seconds; a client that hears nothing for 25 reconnects (P10).
 */
export interface PingFrame {
at: string
type: "ping"
}
/**
 * Answer to a client's ping.
 */
export interface Pong {
id: string
type: "pong"
}
/**
 * What a switch costs at the next send (`preview_toggle`), or a rebase (`force_rebase`): `tokens` to be read anew,
 * for `cost` dollars more. 0 where it is free, null where it is not known.
 * 
 * `later` are tools that it brings and that are named, not declared: one that the model then loads may cost once what
 * `load_tokens` says. A rebase makes the prompts of a turn `saved_tokens` shorter (negative: longer), which saves
 * `saved_cost` dollars a turn while the cache is warm.
 */
export interface PreviewAck {
cost: (number | null)
costly: boolean
id: string
later: string[]
load_tokens: (number | null)
reason: string
restored: string[]
saved_cost: (number | null)
saved_tokens: (number | null)
session_id: string
tokens: (number | null)
type: "ack"
withdrawn: string[]
}
/**
 * One part of a request. `kept`: the request before it at the same endpoint had it at the same place.
 */
export interface SegmentInfo {
bytes: number
digest: string
kept: boolean
name: string
section: ("tools" | "system" | "messages")
}
/**
 * What the next message would cost (`preview_send`): what of the conversation is billed anew `now`, and what will
 * be `once_cold`, after `warm_until` or in `warm_s` seconds.
 * 
 * `reason` is why the planner would rewrite what the endpoint holds (`cold`, `model_changed`, `system_changed`, ...),
 * `branch` where another branch was read last, else `unchanged`. `input_cost` are the dollars for all of the next
 * request's input but the message itself.
 */
export interface SendPreviewAck {
id: string
input_cost: (number | null)
model: (string | null)
now: Reread
once_cold: Reread
reason: string
session_id: string
state: ("warm" | "cold" | "none" | "unknown")
type: "ack"
warm_s: (number | null)
warm_until: (string | null)
}
/**
 * Events after the given seq follow. `seq` is the newest seq at this moment.
 */
export interface SubscribeAck {
id: string
seq: number
session_id: (string | null)
type: "ack"
}
/**
 * A page of chats.
 */
export interface SessionsAck {
id: string
more: boolean
sessions: SessionInfo[]
type: "ack"
}
/**
 * All settings of the user.
 */
export interface SettingsAck {
id: string
settings: {
[k: string]: JsonValueOutput
}
type: "ack"
}
/**
 * The effective tools of a chat with reasons (`explain_tools`). `error` says why nothing resolves.
 * 
 * `offer` is there where the chat's own picks look like a copy of a preset, which it could follow instead.
 * `problems` says of a source of tools, or of the project's file, what is wrong with it.
 */
export interface ToolsAck {
budget: ToolBudget
decided: Decided[]
effective: Effective
error: (string | null)
id: string
offer: (FollowOffer | null)
preset: (string | null)
presets: PresetInfo[]
problems: {
[k: string]: string[]
}
revision: number
session_id: string
tools: ToolState[]
type: "ack"
unknown: string[]
}
/**
 * What each request of a chat pays for tools, in tokens of its model; None where not everything is counted yet.
 * 
 * `resident` is the price of the `declared` tools, `catalog` that of naming the `deferred` ones. `overhead` is what
 * the model's vendor adds. `ratio` is the model's tokens for one of o200k, from `samples` answers (0: assumed).
 */
export interface ToolBudget {
catalog: (number | null)
declared: number
deferred: number
model: (string | null)
overhead: number
ratio: number
resident: (number | null)
samples: number
}
/**
 * One registered tool as this chat sees it now.
 */
export interface ToolState {
description: string
detail: string
layer: (("override" | "session" | "project" | "profile" | "default") | null)
name: string
reason: (("tools_off" | "not_in_preset" | "switched_off" | "chip_off" | "profile_forbids" | "source_forbids" | "not_configured") | null)
residency: ("resident" | "deferred")
source: string
state: ("on" | "off" | "deferred" | "loaded" | "unavailable" | "down" | "refused_by_mode")
switchable: boolean
switched_off: boolean
tokens: (number | null)
tokens_now: (number | null)
}
/**
 * One request (`inspect_step`). `compared_with` is the request before it at the same endpoint, as turn and step;
 * `predicted_loss` the tokens that its plan gave up knowingly.
 */
export interface StepAck {
body: ({
[k: string]: JsonValueOutput
} | null)
compared_with: (unknown[] | null)
id: string
predicted_loss: (number | null)
segments: SegmentInfo[]
session_id: string
settings_changed: boolean
step: CacheStep
type: "ack"
}
/**
 * What all chats used (`usage`), newest day first.
 */
export interface UsageAck {
id: string
spending: Spending[]
type: "ack"
}
/**
 * What one chat's requests of one kind to one model on one day (UTC, `YYYY-MM-DD`) came to.
 * 
 * Sums are over what is known; `unknown` requests did not report their tokens, `unpriced` ones have no price.
 */
export interface Spending {
cost: (number | null)
day: string
kind: ("step" | "title" | "subagent" | "summary")
model: string
requests: number
session_id: string
title: string
unknown: number
unpriced: number
usage: Usage
}
/**
 * Done to (or made) this chat.
 */
export interface SessionAck {
id: string
session_id: string
type: "ack"
}
/**
 * Replaces everything known of a chat; events after `seq` follow (P3).
 */
export interface Snapshot {
seq: number
session_id: string
state: SessionState
type: "snapshot"
}
/**
 * A chat as of one seq: what a client needs to show it and to go on from there.
 * 
 * `outcome` is how the last turn ended, and when, unless the branch has gone on; `notes` are the newest quiet lines
 * and errors that are part of no message, `steps` the requests that the answers among `messages` came from.
 */
export interface SessionState {
approvals: ApprovalRequested[]
cost: (number | null)
effective: Effective
intent: ToolIntent
messages: Message[]
more: boolean
notes: Note[]
outcome: (TurnFinished | null)
outcome_at: (string | null)
partial: (PartialAnswer | null)
permission_mode: ("ask" | "accept_edits" | "auto")
questions: QuestionAsked[]
queue: QueuedMessage[]
revision: number
session: SessionInfo
siblings: {
[k: string]: string[]
}
status: ("idle" | "running" | "waiting")
steps: StepFinished[]
turn_id: (string | null)
usage: Usage
}
