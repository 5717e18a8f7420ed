import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { AnswerContent, JwsPort } from '../payments/index.ts'
import type { Database } from '../store/database.ts'
import type { SubscriptionStreams } from '../subscriptions/index.ts'
import type { LicenceGate } from './licences/gate.ts'
import type { SnapshotKeeper } from './snapshots/keeper.ts'
import type { SymbolBook } from './store/symbol-book.ts'
import type { FileShelf } from './world/file-shelf.ts'

/** Made answers of the newest snapshots. */
export type AnswerMemo = {
  get(key: string): (AnswerContent & { body: Uint8Array | string }) | undefined
  put(key: string, answer: AnswerContent & { body: Uint8Array | string }): void
}

/** What the routes of this shop work with. */
export type MatrixDeps = {
  database: Database
  clock: Clock
  ids: Ids
  log: Log
  jws: JwsPort
  baseUrl: string
  shelf: FileShelf
  symbols: SymbolBook
  keeper: SnapshotKeeper
  gate: LicenceGate
  memo: AnswerMemo
  delayMs: number
  prices: { liveMicro: bigint; vipMicro: bigint }
  network: string
  streams: SubscriptionStreams
  stopping: AbortSignal
}
