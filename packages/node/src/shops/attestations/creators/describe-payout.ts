import { type Address, checksumAddress } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import { toRfc3339 } from '@assay/till/kernel/clock'
import type { Sql } from '@assay/till/store/database'
import type { Share } from './accrue.ts'
import { unpackProof } from './pack-proof.ts'

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
  /** From when on the contract pays it. */
  claimable_at: string | null
  settle_transaction: string | null
  /** Leads from what the epoch allots to this domain and wallet to the root that the commit transaction set. */
  merkle_proof: { distributor: string; account: string; micro: string; proof: string[] } | null
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
  opens_at: Date | null
  account: Buffer | null
  leaf_micro: bigint | null
  proof: Buffer | null
}

export type PayoutOptions = { nowMs: number; waitMs: number; releaseMs: number; apiUrl: string }

export async function readPayouts(sql: Sql, subject: string, options: PayoutOptions): Promise<PayoutView[]> {
  const { rows } = await sql.query<Row>({
    name: 'creator_payouts_of',
    text: `select a.domain, a.registrable, a.wallet, a.micro, a.network, a.state, a.held_until, a.held_reason, a.created_at,
        r.root, r.epoch, r.contract, r.opens_at, l.account, l.micro as leaf_micro, l.proof,
        case when r.state = 'committed' then r.transaction end as commit_transaction,
        l.claim_transaction as settle_transaction
      from creator_accrual a
      left join creator_root r on r.id = a.root_id
      left join lateral (select l.account, l.micro, l.proof, l.claim_transaction from creator_leaf l
        where l.root_id = a.root_id and l.wallet = a.wallet
        order by l.domain = coalesce(a.payee_domain, a.domain) desc nulls last limit 1) l on true
      where a.subject = $1 and a.micro > 0 and a.round = (select max(round) from creator_accrual where subject = $1)
      order by a.place`,
    values: [subject],
  })
  return rows.map((row) => toView(row, options))
}

/** The same for shares that were recorded recently, without asking for them again. */
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
          opens_at: null,
          account: null,
          leaf_micro: null,
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
    claimable_at: row.opens_at && toRfc3339(row.opens_at.getTime()),
    settle_transaction: row.settle_transaction,
    merkle_proof: merkleProofOf(row),
    follow: row.wallet && `${apiUrl}/v1/creators/${checksumAddress(row.wallet)}`,
  }
}

function merkleProofOf({ state, contract, account, leaf_micro, proof }: Row): PayoutView['merkle_proof'] {
  if (state !== 'committed' || contract === null || account === null || leaf_micro === null || proof === null)
    return null
  return {
    distributor: checksumAddress(contract),
    account: toHex(account),
    micro: String(leaf_micro),
    proof: unpackProof(proof),
  }
}

const days = (ms: number) => `${Math.round(ms / 8_640_000) / 10} days`

function noteOf(state: PayoutState, row: Row, { waitMs, releaseMs }: PayoutOptions): string {
  switch (state) {
    case 'waiting':
      return `Nobody has proven ${row.registrable} yet. The share waits for ${days(waitMs)}, is released ${days(releaseMs)} after a proof, and is otherwise returned to the payer as credit.`
    case 'held':
      return `Held in a challenge window: ${row.held_reason}.`
    case 'accrued':
      return 'In the books; part of the next root on chain once the payment is final.'
    case 'committing':
      return 'Part of a root that is on its way to the chain.'
    case 'committed':
      return 'Backed by USDC in the distributor contract; from claimable_at on sent when the threshold is reached, or claimed by the creator.'
    case 'settled':
      return 'Received by the creator.'
    case 'reversed':
      return 'The payment was reversed.'
    case 'expired':
      return 'Nobody proved the domain in time. The share was returned to the payer as credit.'
  }
}
