export { Connection } from "./connection";
export { randomId } from "./id";
export { type LinkState } from "./machine";
export { type ConnectionOptions, type LinkStatus, type Subscriber } from "./options";
export { RequestError, type AckOf, type ActionBody, type ActionName } from "./types";
