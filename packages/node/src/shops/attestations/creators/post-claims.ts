import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { fromHex } from '@assay/till/kernel/bytes'
import { post } from '@assay/till/ledger'
import type { Tx } from '@assay/till/store/database'
import { creatorAccounts } from '../accounts.ts'
import { committedAccount } from './accrue.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'

export type ClaimedEvent = {
  account: Hex
  wallet: Address
  payee: Address
  epoch: bigint
  amountMicro: Micro
  transaction: Hex
  logIndex: number
  blockNumber: bigint
}

/** Leaves of one domain and wallet that one transaction paid to one payee. */
export type Claim = Omit<ClaimedEvent, 'epoch'> & { epochs: bigint[] }

export function toClaims(events: readonly ClaimedEvent[]): Claim[] {
  const claims = new Map<string, Claim>()
  for (const { epoch, ...event } of events) {
    const key = [event.transaction, event.account, event.wallet, event.payee].join(' ')
    const known = claims.get(key)
    if (known) {
      known.epochs.push(epoch)
      known.amountMicro += event.amountMicro
    } else claims.set(key, { ...event, epochs: [epoch] })
  }
  return [...claims.values()]
}

/** Posts what left the contract, each leaf once. A claim of a leaf that the books do not have stops here, and is tried again. */
export async function takeClaims(
  { clock }: CreatorDeps,
  tx: Tx,
  { network: { caip2: network }, contract }: Pick<CreatorChain, 'network' | 'contract'>,
  claims: readonly Claim[],
): Promise<void> {
  for (const claim of claims) {
    const { transaction, logIndex, wallet, amountMicro } = claim
    const account = fromHex(claim.account)
    const { rowCount } = await tx.query(
      `insert into creator_claim (network, transaction, log_index, account, wallet, payee, amount_micro, epochs,
         block_number, claimed_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
      [
        network,
        transaction,
        logIndex,
        account,
        wallet,
        claim.payee,
        amountMicro,
        claim.epochs,
        claim.blockNumber,
        new Date(clock.nowMs()),
      ],
    )
    if (rowCount === 0) continue
    const { rows } = await tx.query<{ micro: Micro }>(
      `update creator_leaf set claim_transaction = $5 where account = $2 and wallet = $3 and claim_transaction is null
         and root_id in (select id from creator_root where network = $1 and contract = $6 and state = 'committed'
           and epoch = any($4::bigint[])) returning micro`,
      [network, account, wallet, claim.epochs, transaction, contract],
    )
    const known = rows.reduce((sum, { micro }) => sum + micro, 0n)
    if (known !== amountMicro)
      throw new Error(`${transaction} claims ${amountMicro} of ${wallet}, the books have ${known} of it`)
    await post(tx, [
      {
        reference: `creator_claim:${network}:${transaction}:${logIndex}`,
        kind: 'creator_claim',
        lines: [
          { account: committedAccount(network, wallet), amount: amountMicro },
          { account: creatorAccounts.distributor(network), amount: -amountMicro },
        ],
      },
    ])
    await tx.query('update creator_balance set claimed_micro = claimed_micro + $3 where network = $1 and wallet = $2', [
      network,
      wallet,
      amountMicro,
    ])
  }
}
