import type { ChannelState } from '../../packages/sdk/src/payment-methods/channel.ts'
import type { SealHead } from '../../packages/till/src/ledger/index.ts'
import { type ChainRecord, createChainRecord } from '../harness/chain-transfers.ts'
import type { Payload } from '../harness/till-fixture.ts'
import type { ChannelCall } from './perform-channels.ts'

/** One thing a buyer wants once, whatever it takes. Its path names it, so that everything about it can be found. */
export type Order = {
  id: string
  buyer: number
  path: string
  /** With its own method and body where the route wants one. */
  init: RequestInit
  priceMicro: bigint
  /** Asked for by somebody who means to pay for it once, and so counted strictly. */
  honest: boolean
  /** Paid for with something that was never quoted: a 402 then says nothing about where that went. */
  altered: boolean
  identifier: string | undefined
  body: string | undefined
  /** The authorization that brought the answer, and others that were sent once it was there: each of them buys it again. */
  answeredBy: string | undefined
  boughtAgain: Set<string>
  /** What was said instead of an answer, the last time. */
  refusal?: string
  /** Takes the answer in, where that is more than to read it to its end. */
  read?(response: Response): Promise<string>
}

export type Sent = {
  order: Order
  /** With what MPP's clients send instead of PAYMENT-SIGNATURE. */
  payload: Payload & { credential?: string }
  nonce: string
  status: number | 'broken'
  /** When it was sent and when it was over, as places in the run. */
  from: string
  to: string
}

/** A call paid from credit. Without a key each try is its own call. */
export type Draw = {
  buyer: number
  key: string | undefined
  routeId: string
  priceMicro: bigint
  tries: number
  /** Tries of which nobody knows the end. */
  lost: number
  /** What was answered, and the call each answer names. */
  answers: { body: string; callId: string | undefined }[]
}

/** All that was seen from outside: what was asked, what was answered, and what every block ever showed. */
export type History = {
  orders: Order[]
  sent: Sent[]
  /** Where the run is: the number of the step and its name. */
  step: string
  /** What each payment was seen as, whenever that changed. */
  seen: Map<string, string[]>
  /** By wallet and name, or one for each try. */
  draws: Map<string, Draw>
  chain: ChainRecord
  /** The snapshot in which entries of the books were seen last, and what they added up to. */
  entries: { seen: string; digest: bigint }
  /** The last seal of the books, up to which they were verified, and the last row of the audit log that was seen. */
  chained: { seal: SealHead | undefined; audited: bigint }
  /** What had happened when everything was checked the last time. */
  checkedState: string
  /** Leaves of the transparency log that were seen before. */
  leaves: string[]
  /** What subscribers of the stream hold, by wallet. */
  streams: Map<string, { token: string | undefined; lastSeq: number }>
  eventsRead: number
  /** Draws that were asked for without a name so far: each is for another thing. */
  unnamedDraws: number
  /** Calls paid by voucher, and what each buyer knows of its channel. */
  channels: { calls: ChannelCall[]; states: Map<number, ChannelState> }
}

export const createHistory = (): History => ({
  orders: [],
  sent: [],
  step: '',
  seen: new Map(),
  draws: new Map(),
  chain: createChainRecord(),
  entries: { seen: '1:1:', digest: 0n },
  chained: { seal: undefined, audited: 0n },
  checkedState: '',
  leaves: [],
  streams: new Map(),
  eventsRead: 0,
  unnamedDraws: 0,
  channels: { calls: [], states: new Map() },
})
