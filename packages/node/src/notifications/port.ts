import type { Json } from '@assay/protocol/canonical-json'
import type { Tx } from '@assay/till/store/database'
import { shopPort } from '../shops/shop-ports.ts'

export type NotifiedEvent = {
  subject: string
  /** Within topic and subject: an event published twice is one event. */
  key: string
  payload: { [key: string]: Json }
  /** False: kept for feeds and lists, but nobody is notified. */
  news?: boolean
}

/** What can be watched. */
export type Topic = {
  /** Such as `token.control`; the type of its events is `assay.<name>`. */
  name: string
  title: string
  /** Feeds of its subjects are open to everybody. */
  isPublic: boolean
  /** The one spelling of a subject, or undefined for what can never have events. No I/O. */
  subjectOf(text: string): string | undefined
}

/** How a shop tells others of what happened. */
export type Notifications = {
  /** Each topic once, when the shop opens. */
  declare(topic: Topic): void
  /** In the transaction of the event: both happen or neither. */
  publish(tx: Tx, topic: string, events: readonly NotifiedEvent[]): Promise<void>
  /** What is watched, for shops that work out their events only where somebody waits for them. */
  watched(topic: string): Promise<string[]>
  /** Another text whenever another set is watched: cheaper than the set itself. */
  watchedVersion(topic: string): Promise<string>
  /** Newest first. */
  recent(
    topic: string,
    page: { subject?: string | undefined; before?: bigint | undefined; limit: number },
  ): Promise<{ id: bigint; subject: string; atMs: number; payload: { [key: string]: Json } }[]>
}

export const notifications = shopPort<Notifications>('notifications')
