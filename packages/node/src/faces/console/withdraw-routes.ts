import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { parseUsd } from '@assay/protocol/money'
import { addressText } from '@assay/till/kernel/address-text'
import { fieldProblem } from '@assay/till/kernel/problem'
import {
  type CustodyStatus,
  listWithdrawals,
  readCustodyStatus,
  requestWithdrawal,
  type Withdrawal,
  type WithdrawPolicy,
} from '@assay/till/payouts'
import type { Sql } from '@assay/till/store/database'
import { z } from 'zod'
import { jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../../shops/shop.ts'
import type { CallerDeps } from './caller.ts'
import { operatorRoute } from './operator-route.ts'

export type WithdrawDeps = CallerDeps &
  Pick<ShopContext, 'database' | 'clock' | 'ids' | 'assets'> & { withdrawals: WithdrawPolicy }

const micro = z.string()
const custody = z.strictObject({
  network: z.string(),
  withdrawable_micro: micro.describe('What nobody has a claim to, in final blocks, by chain and books alike.'),
  balance_micro: micro,
  posted_micro: micro,
  others_micro: micro.describe('Credit, holds, bonds, collateral, shares, money in review or in a restore gap.'),
  debts_micro: micro.describe('Paid from here and owed by the operator, such as shares of affiliates.'),
  leaving_micro: micro.describe('Decided or signed.'),
  reserved_micro: micro.describe('What shops may still promise, such as the vault of options.'),
  block: z.string(),
  checked_at: z.string(),
})
const withdrawal = z.strictObject({
  id: z.string(),
  network: z.string(),
  to: z.string(),
  asked_micro: micro.nullable().describe('null: all.'),
  state: z.enum(['asked', 'paying', 'refused']),
  outcome: z.string().nullable(),
  requested_by: z.string(),
  requested_at: z.string(),
  payout: z
    .strictObject({
      id: z.string(),
      state: z.string(),
      amount_micro: micro,
      transaction: z.string().nullable(),
      reason: z.string().nullable(),
    })
    .nullable(),
})

const exampleAddress = '0x1111111111111111111111111111111111111111'

/** What an operator sees of its own money in custody. */
export const withdrawalsShape = z.strictObject({
  custody: z.array(custody),
  destinations: z.array(z.strictObject({ network: z.string(), address: z.string() })),
  newest: z.array(withdrawal),
})

export async function readWithdrawals(
  sql: Sql,
  { destinations }: WithdrawPolicy,
): Promise<z.infer<typeof withdrawalsShape>> {
  const [status, withdrawals] = await Promise.all([readCustodyStatus(sql), listWithdrawals(sql, { limit: 10 })])
  return {
    custody: status.map(describeCustody),
    destinations: destinations.map(({ network, address }) => ({ network, address: checksumAddress(address) })),
    newest: withdrawals.map(describeWithdrawal),
  }
}

const asked = z.strictObject({
  network: z.string().max(100),
  to: addressText,
  amount_usd: z.string().max(20).optional().describe('Absent: all that can be withdrawn.'),
})

export function withdrawRoute(deps: WithdrawDeps): RouteDeclaration {
  return operatorRoute(deps, {
    operator: 'withdraw',
    id: 'operator.withdraw',
    method: 'POST',
    path: '/v1/operator/withdrawals',
    summary: "Withdraw the operator's own money from custody",
    description: 'Goes to an address of WITHDRAW_TO and to no other; a running node sends it.',
    body: asked,
    output: z.strictObject({ id: z.string(), state: z.literal('asked') }),
    example: {
      body: { network: 'eip155:8453', to: exampleAddress, amount_usd: '250' },
      output: { id: 'wd_06d1z8k4q2v7e9m3x5c0w8r2t4', state: 'asked' },
    },
    next: '/v1/operator/overview',
    handle: async (input, by) => {
      const { network, to, amount_usd } = input.body as z.infer<typeof asked>
      if (!deps.assets.some(({ caip2, usdc }) => caip2 === network && usdc.eip3009 !== false))
        throw fieldProblem('body.network', 'is not one on which the node pays out')
      const amountMicro = amount_usd === undefined ? undefined : parseUsd(amount_usd)
      if (amount_usd !== undefined && !amountMicro)
        throw fieldProblem('body.amount_usd', 'must be decimal USD above zero')
      const outcome = await requestWithdrawal(deps, deps.withdrawals, {
        network,
        payee: parseAddress(to) as Address,
        by: `operator ${by.address}`,
        ...(amountMicro === undefined ? {} : { amountMicro }),
      })
      if (outcome.status === 'refused')
        throw outcome.why === 'asked_before'
          ? fieldProblem('body.to', 'a withdrawal to this address waits already')
          : fieldProblem('body.to', 'is not in WITHDRAW_TO for this network')
      return jsonAnswer({ id: outcome.id, state: 'asked' })
    },
  })
}

const describeCustody = (row: CustodyStatus): z.infer<typeof custody> => ({
  network: row.network,
  withdrawable_micro: row.withdrawableMicro.toString(),
  balance_micro: row.balanceMicro.toString(),
  posted_micro: row.postedMicro.toString(),
  others_micro: row.othersMicro.toString(),
  debts_micro: row.debtsMicro.toString(),
  leaving_micro: row.leavingMicro.toString(),
  reserved_micro: row.reservedMicro.toString(),
  block: row.block.toString(),
  checked_at: row.checkedAt.toISOString(),
})

const describeWithdrawal = (row: Withdrawal): z.infer<typeof withdrawal> => ({
  id: row.id,
  network: row.network,
  to: checksumAddress(row.payee),
  asked_micro: row.askedMicro?.toString() ?? null,
  state: row.state,
  outcome: row.outcome,
  requested_by: row.requestedBy,
  requested_at: row.requestedAt.toISOString(),
  payout: row.payout && {
    id: row.payout.id,
    state: row.payout.state,
    amount_micro: row.payout.amountMicro.toString(),
    transaction: row.payout.transaction,
    reason: row.payout.reason,
  },
})
