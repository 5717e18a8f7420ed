import type { Database } from '@assay/till/store/database'
import { type IntentEvent, intentChannel } from './store.ts'

/** How other processes learn of published events. The rows are the truth; a carrier only says that there are new ones. */
export type Carrier = {
  name: string
  /** Passes on what was published and not passed on yet; called after each closing, and again after a crash. */
  announce(): Promise<void>
  /** `events` where the message brought them; otherwise they are read from the database. */
  follow(onNews: (events?: readonly IntentEvent[]) => void): Promise<() => Promise<void>>
  stop(): Promise<void>
}

/** Within one database its own notifications do: they are sent with the commit of what they are about. */
export function postgresCarrier(database: Database): Carrier {
  return {
    name: 'postgres',
    announce: async () => {},
    follow: (onNews) =>
      database.listen(
        intentChannel,
        () => onNews(),
        () => onNews(),
      ),
    stop: async () => {},
  }
}
