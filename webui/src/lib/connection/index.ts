export { Connection, randomId, type ConnectionOptions, type LinkStatus, type Subscriber } from "./connection";
export { type LinkState } from "./machine";
export { RequestError, type AckOf, type ActionBody, type ActionName } from "./types";
