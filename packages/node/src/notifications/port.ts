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

/** How a shop tells others of what happened. */
export type Notifications = {
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
