/** Names for the protocol's types as the client uses them. */
import type {
  Action,
  CacheAck,
  ChatAck,
  ErrorFrame,
  IntentAck,
  MessagesAck,
  ModelPricesAck,
  ModelsAck,
  PreviewAck,
  SendPreviewAck,
  SessionAck,
  SessionsAck,
  SettingsAck,
  StepAck,
  SubscribeAck,
  ToolsAck,
  UsageAck,
  Ack,
} from "../../protocol.gen";

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

export type ActionName = Action["action"];

/** An action as its caller writes it: the id is the connection's affair. */
export type ActionBody = DistributiveOmit<Action, "id">;

interface Acks {
  chat: ChatAck;
  edit_message: ChatAck;
  regenerate: SessionAck;
  set_tools_profile: IntentAck;
  toggle_web_search: IntentAck;
  set_tools_enabled: IntentAck;
  set_tool_disabled: IntentAck;
  pick_tools: IntentAck;
  explain_tools: ToolsAck;
  inspect_cache: CacheAck;
  inspect_step: StepAck;
  preview_toggle: PreviewAck;
  preview_send: SendPreviewAck;
  preview_models: ModelPricesAck;
  force_rebase: PreviewAck;
  usage: UsageAck;
  create_session: SessionAck;
  list_sessions: SessionsAck;
  load_messages: MessagesAck;
  list_models: ModelsAck;
  get_settings: SettingsAck;
  set_setting: SettingsAck;
  subscribe: SubscribeAck;
}

/** What the server answers to an action. */
export type AckOf<N extends ActionName> = N extends keyof Acks ? Acks[N] : Ack;

/** The server refused an action. Nothing of it was applied. */
export class RequestError extends Error {
  readonly code: string;
  readonly field: string | null;
  readonly hint: string | null;

  constructor(frame: Pick<ErrorFrame, "code" | "message"> & Partial<ErrorFrame>) {
    super(frame.message);
    this.name = "RequestError";
    this.code = frame.code;
    this.field = frame.field ?? null;
    this.hint = frame.hint ?? null;
  }
}
