/** Shapes of the settings that the server keeps for a user. */

/** From which price on a person is told before a message or a switch is paid for. */
export interface CostlySend {
  readonly tokens: number;
  readonly dollars: number;
}
