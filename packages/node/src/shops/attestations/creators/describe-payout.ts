import { type Address, checksumAddress } from '@assay/till/kernel/address'
import { toHex } from '@assay/till/kernel/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { Share } from './accrue.ts'

/** What became of a creator's share, in words that never claim more than has happened. */
export type PayoutState =
  | 'waiting'
  | 'held'
  | 'accrued'
  | 'committing'
  | 'committed'
  | 'settled'
  | 'reversed'
  | 'expired'

export type PayoutView = {
  domain: string
  wallet: string | null
  micro: string
  network: string
  state: PayoutState
  note: string
  held_until_at: string | null
  waits_until_at: string | null
  root: string | null
  epoch: string | null
  commit_transaction: string | null
  settle_transaction: string | null
  /** Leads from what this creator had earned in all to the root that the commit transaction set. */
  merkle_proof: { distributor: string; cumulative_micro: string; proof: string[] } | null
  follow: string | null
}

type Row = {
  domain: string
  registrable: string
  wallet: Address | null
  micro: bigint
  network: string
  state: 'waiting' | 'accrued' | 'committing' | 'committed' | 'reversed' | 'expired'
  held_until: Date | null
  held_reason: string | null
  created_at: Date
  root: Buffer | null
  epoch: bigint | null
  commit_transaction: string | null
  settle_transaction: string | null
  contract: Address | null
  cumulative_micro: bigint | null
  proof: Buffer | null
}

export type PayoutOptions = { nowMs: number; waitMs: number; releaseMs: number; apiUrl: string }

export async function readPayouts(sql: Sql, subject: string, options: PayoutOptions): Promise<PayoutView[]> {
  const { rows } = await sql.query<Row>({
    name: 'creator_payouts_of',
    text: `select a.domain, a.registrable, a.wallet, a.micro, a.network, a.state, a.held_until, a.held_reason, a.created_at,
        r.root, r.epoch, r.contract, l.cumulative_micro, l.proof, case when r.state = 'committed' then r.transaction end as commit_transaction,
        (select c.transaction from creator_claim c where c.network = a.network and c.wallet = a.wallet
           and c.cumulative_micro >= l.cumulative_micro order by c.block_number limit 1) as settle_transaction
      from creator_accrual a
      left join creator_root r on r.id = a.root_id
      left join creator_leaf l on l.root_id = a.root_id and l.wallet = a.wallet
      where a.subject = $1 and a.micro > 0 and a.round = (select max(round) from creator_accrual where subject = $1)
      order by a.place`,
    values: [subject],
  })
  return rows.map((row) => toView(row, options))
}

/** The same for shares that were put down a moment ago, without asking for them again. */
export function newPayouts(
  shares: readonly Share[],
  sale: { network: string; settledAtMs: number },
  options: PayoutOptions,
): PayoutView[] {
  return shares
    .filter(({ micro }) => micro > 0n)
    .map(({ payee, micro, held }) =>
      toView(
        {
          domain: payee.domain,
          registrable: payee.registrable,
          wallet: payee.wallet ?? null,
          micro,
          network: sale.network,
          state: payee.wallet === undefined ? 'waiting' : 'accrued',
          held_until: held ? new Date(held.untilMs) : null,
          held_reason: held?.reason ?? null,
          created_at: new Date(sale.settledAtMs),
          root: null,
          epoch: null,
          commit_transaction: null,
          settle_transaction: null,
          contract: null,
          cumulative_micro: null,
          proof: null,
        },
        options,
      ),
    )
}

function toView(row: Row, options: PayoutOptions): PayoutView {
  const { nowMs, waitMs, apiUrl } = options
  const isHeld = row.state === 'accrued' && row.held_until !== null && row.held_until.getTime() > nowMs
  const state = row.settle_transaction !== null ? 'settled' : isHeld ? 'held' : row.state
  return {
    domain: row.domain,
    wallet: row.wallet && checksumAddress(row.wallet),
    micro: String(row.micro),
    network: row.network,
    state,
    note: noteOf(state, row, options),
    held_until_at: isHeld && row.held_until ? toRfc3339(row.held_until.getTime()) : null,
    waits_until_at: row.state === 'waiting' ? toRfc3339(row.created_at.getTime() + waitMs) : null,
    root: row.root && `0x${row.root.toString('hex')}`,
    epoch: row.epoch === null ? null : String(row.epoch),
    commit_transaction: row.commit_transaction,
    settle_transaction: row.settle_transaction,
    merkle_proof: merkleProofOf(row),
    follow: row.wallet && `${apiUrl}/v1/creators/${checksumAddress(row.wallet)}`,
  }
}

const hashBytes = 32

function merkleProofOf({ state, contract, cumulative_micro, proof }: Row): PayoutView['merkle_proof'] {
  if (state !== 'committed' || contract === null || cumulative_micro === null || proof === null) return null
  const steps = Array.from({ length: proof.length / hashBytes }, (_, step) =>
    toHex(proof.subarray(step * hashBytes, (step + 1) * hashBytes)),
  )
  return { distributor: checksumAddress(contract), cumulative_micro: String(cumulative_micro), proof: steps }
}

const days = (ms: number) => `${Math.round(ms / 8_640_000) / 10} days`

function noteOf(state: PayoutState, row: Row, { waitMs, releaseMs }: PayoutOptions): string {
  switch (state) {
    case 'waiting':
      return `Nobody has proven ${row.registrable} yet. The share waits for ${days(waitMs)}, is released ${days(releaseMs)} after a proof, and otherwise returns to the credit of whoever paid.`
    case 'held':
      return `Held in a challenge window: ${row.held_reason}.`
    case 'accrued':
      return 'In the books; part of the next root on chain once the payment is final.'
    case 'committing':
      return 'Part of a root that is on its way to the chain.'
    case 'committed':
      return 'Backed by USDC in the distributor contract; sent when the threshold is reached, or claimed by the creator.'
    case 'settled':
      return 'Received by the creator.'
    case 'reversed':
      return 'The payment was taken back.'
    case 'expired':
      return 'Nobody proved the domain in time; the share went to the credit of whoever paid.'
  }
}
