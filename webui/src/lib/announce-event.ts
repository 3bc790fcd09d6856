/** What a screen reader is told of an event. */
import { t } from "../i18n/index.svelte";
import type { Event as ChatEvent } from "../protocol.gen";
import { errorLine } from "./server-words";
import { announcer } from "./announce.svelte";

export function announce(event: ChatEvent): void {
  if (event.type === "turn_accepted") announcer.say(t("announce.started"));
  else if (event.type === "approval_requested")
    announcer.say(t("approval.announce", { what: event.preview.slice(0, 120) }));
  else if (event.type === "question_asked") announcer.say(t("question.announce", { what: event.question.text }));
  else if (event.type === "turn_finished") {
    if (event.error !== null) announcer.say(t("announce.failed", { message: errorLine(event.error) }));
    else announcer.say(t(event.reason === "stopped" ? "announce.stopped" : "announce.done"));
  }
}
