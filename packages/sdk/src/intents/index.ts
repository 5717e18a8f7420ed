export { type FollowOptions, followStream, type StreamedEvent } from './follow-stream.ts'
export {
  createIntents,
  type IntentCluster,
  type IntentSample,
  type IntentSignal,
  type IntentStreamOptions,
  type Intents,
  type IntentTick,
  tickOf,
} from './intents.ts'
export { createEventParser, type EventParser, type ServerEvent } from './parse-events.ts'
export { type CloudEvent, type EventVerification, verifyEvent } from './verify-event.ts'
