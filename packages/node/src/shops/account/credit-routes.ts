import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { chainOfAsset } from '@assay/protocol/asset'
import { formatUsd, type Micro, parseUsd } from '@assay/protocol/money'
import type { Sale } from '@assay/till'
import {
  arrivedInGap,
  type CreditPolicy,
  type CreditRefund,
  creditLines,
  readCredit,
  refundCredit,
  requireNoneInProgress,
} from '@assay/till/internal'
import { walletParams } from '@assay/till/kernel/address-text'
import { Problem } from '@assay/till/kernel/problem'
import { accounts, owedTo, post } from '@assay/till/ledger'
import { creditRefundPurposes, type PayoutPolicy, payoutsOf } from '@assay/till/payouts'
import type { Sql, Tx } from '@assay/till/store/database'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { networkField, requireNetwork } from './network-field.ts'

const names = (assets: CreditRouteDeps['assets']) => assets.map(({ caip2 }) => caip2)
/** What the node can pay out: it keeps nothing else for others. */
const payable = (assets: CreditRouteDeps['assets']) => names(assets.filter(({ usdc }) => usdc.eip3009 !== false))

export type CreditRouteDeps = Pick<ShopContext, 'base' | 'assets' | 'database' | 'proofs' | 'ids' | 'clock'> & {
  policy: CreditPolicy
  payoutPolicy: PayoutPolicy
}

const lowestMicro = 1_000_000n
const highestMicro = 1_000_000_000n
const exampleWallet = '0x1111111111111111111111111111111111111111'
const usdField = z.string().describe('How much, such as 5 or 12.5.')

/** Paying in once and drawing on it: many small calls without a settlement each. */
export function creditRoutes(deps: CreditRouteDeps): RouteDeclaration[] {
  return [topUpRoute(deps, 'GET'), topUpRoute(deps, 'POST'), balanceRoute(deps), refundRoute(deps)]
}

function topUpRoute({ base, assets }: CreditRouteDeps, method: 'GET' | 'POST'): RouteDeclaration {
  const place = method === 'GET' ? 'query' : 'body'
  return defineRoute({
    id: method === 'GET' ? 'credit.topup' : 'credit.topup.post',
    capability: 'credit.topup',
    area: 'core',
    method,
    path: '/v1/credit/topup',
    summary:
      method === 'GET' ? 'Pay USDC in, to be drawn on by signed requests' : 'Pay USDC in; the amount is in the body',
    description:
      'From 1 to 1000 USD, on either chain. A request signed by the wallet (ERC-8128), or by somebody with its mandate, is then paid from it.',
    [place]: z.strictObject({ usd: usdField.optional() }),
    output: z.strictObject({
      wallet: z.string(),
      network: z.string(),
      added_micro: z.string(),
      credit_micro: z.string(),
      provisional: z.boolean(),
    }),
    example: {
      [place]: { usd: '5' },
      output: {
        wallet: exampleWallet,
        network: base.caip2,
        added_micro: '5000000',
        credit_micro: '5000000',
        provisional: true,
      },
    },
    next: '/',
    access: {
      kind: 'paid',
      price: { kind: 'from_input', lowestMicro, highestMicro, of: (input) => amountOf(input[place]?.usd, place) },
      networks: payable(assets),
      permit2: true,
      payee: 'custody',
      revocable: true,
      consumption: 'credit',
      prepare: async () => ({ answer: jsonAnswer({}) }),
      commit: (tx, sale) => addCredit(tx, sale),
      // What is left of it is reversed with the postings of the payment; there is nothing beside them.
      revoke: async () => {},
    },
  })
}

function amountOf(text: string | undefined, place: string): Micro {
  if (text === undefined) return lowestMicro
  const micro = parseUsd(text)
  if (micro === undefined || micro < lowestMicro || micro > highestMicro)
    throw new Problem('input_invalid', {
      detail: `${place}.usd must be decimal USD: minimum ${formatUsd(lowestMicro)} USD, maximum ${formatUsd(highestMicro)} USD`,
    })
  return micro
}

async function addCredit(tx: Tx, sale: Sale) {
  const credit = accounts.credit(sale.network, sale.payer)
  await post(tx, [
    {
      reference: `topup:${sale.paymentId}#${sale.round}`,
      kind: 'topup',
      paymentId: sale.paymentId,
      lines: [
        { account: accounts.clearingPayments(sale.network), amount: sale.amountMicro },
        ...(await creditLines(tx, sale.network, sale.payer, sale.amountMicro)),
      ],
    },
  ])
  return jsonAnswer({
    wallet: checksumAddress(sale.payer),
    network: sale.network,
    added_micro: sale.amountMicro.toString(),
    credit_micro: (await owedTo(tx, credit)).toString(),
    provisional: sale.provisional,
  })
}

const payoutView = z.strictObject({
  id: z.string(),
  network: z.string(),
  amount_micro: z.string(),
  state: z.string(),
  waits_for: z
    .enum(['approval', 'daily_limit', 'operator_funds'])
    .nullable()
    .describe('operator_funds: the money arrived at the address for sales, and the operator has to move it first.'),
  transaction: z.string().nullable(),
  created_at: z.string(),
  paid_at: z.string().nullable(),
})

function balanceRoute({ database, base, assets }: CreditRouteDeps): RouteDeclaration {
  const balance = z.strictObject({
    network: z.string(),
    credit_micro: z.string().describe('Can be drawn on.'),
    credit_usd: z.string(),
    held_micro: z.string().describe('Set aside for calls under way.'),
    bonded_micro: z.string().describe('Locked in bonds.'),
    not_final_micro: z.string().describe('Part of the credit that a reorg could still take away.'),
    refundable_micro: z.string().describe('What a refund would take, before its cost.'),
    in_review_micro: z
      .string()
      .describe('Arrived shortly before the database was restored: the operator decides whether it was used before.'),
  })
  const nothing = {
    held_micro: '0',
    bonded_micro: '0',
    not_final_micro: '0',
    refundable_micro: '0',
    in_review_micro: '0',
  }
  return defineRoute({
    id: 'credit.balance',
    main: true,
    area: 'core',
    method: 'GET',
    path: '/v1/credit/:wallet',
    summary: 'What a wallet has paid in and not used, and its refunds',
    params: walletParams,
    output: z.strictObject({ wallet: z.string(), credit: z.array(balance), refunds: z.array(payoutView) }),
    example: {
      params: { wallet: exampleWallet },
      output: {
        wallet: exampleWallet,
        credit: [{ network: base.caip2, credit_micro: '0', credit_usd: '0', ...nothing }],
        refunds: [],
      },
    },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      handle: async (input) => {
        const wallet = parseAddress(input.params.wallet) as Address
        const credit = await Promise.all(names(assets).map((network) => creditOn(database, network, wallet)))
        const refunds = await payoutsOf(database, wallet, creditRefundPurposes, 20)
        return jsonAnswer({ wallet: checksumAddress(wallet), credit, refunds })
      },
    },
  })
}

async function creditOn(sql: Sql, network: string, wallet: Address) {
  const { creditMicro, heldMicro, bondedMicro, notFinalMicro, movableMicro } = await readCredit(sql, network, wallet)
  return {
    network,
    credit_micro: creditMicro.toString(),
    credit_usd: formatUsd(creditMicro),
    held_micro: heldMicro.toString(),
    bonded_micro: bondedMicro.toString(),
    not_final_micro: notFinalMicro.toString(),
    refundable_micro: movableMicro.toString(),
    in_review_micro: (await arrivedInGap(sql, network, wallet)).toString(),
  }
}

function refundRoute(deps: CreditRouteDeps): RouteDeclaration {
  const refund = z.strictObject({
    network: z.string(),
    refunded_micro: z.string().describe('Taken off the credit.'),
    cost_micro: z.string().describe('Kept, for the transfer.'),
    paid_micro: z.string().describe('On its way to the wallet.'),
    payout: z.string(),
    state: z.enum(['queued', 'waiting']).describe('waiting: a person at the operator looks at it first.'),
  })
  return defineRoute({
    id: 'credit.refund',
    area: 'core',
    method: 'POST',
    path: '/v1/credit/refund',
    summary: 'Credit goes back to the wallet that paid it in, on the chain where it did',
    description:
      'The request is signed by the wallet (ERC-8128). Money held by calls, locked in bonds or not final yet stays; a small cost is kept of each transfer. What arrived at the address for sales is a separate transfer and waits until the operator has moved the money. GET /v1/credit/{wallet} shows how the transfer goes.',
    body: z.strictObject({
      usd: usdField.optional(),
      network: networkField.describe('Default: every chain.').optional(),
    }),
    output: z.strictObject({ wallet: z.string(), refunds: z.array(refund) }),
    example: {
      body: {},
      output: {
        wallet: exampleWallet,
        refunds: [
          {
            network: deps.base.caip2,
            refunded_micro: '4750000',
            cost_micro: '10000',
            paid_micro: '4740000',
            payout: 'po_01jcxk6v3q8m5r7t9w2y4z6a8c',
            state: 'queued',
          },
        ],
      },
    },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => jsonAnswer(await refundAsked(deps, input.body, call)),
    },
  })
}

async function refundAsked(deps: CreditRouteDeps, body: { usd?: string; network?: string }, call: CallContext) {
  const proven = await signerOf(deps, call)
  const amountMicro = body.usd === undefined ? undefined : parseUsd(body.usd)
  if (body.usd !== undefined && (amountMicro === undefined || amountMicro === 0n || body.network === undefined))
    throw new Problem('input_invalid', { detail: 'usd must be decimal USD above zero, and needs network beside it' })
  if (body.network !== undefined) requireNetwork(body.network, payable(deps.assets))
  // On another chain the address of a contract wallet may have another owner.
  const own = proven.kind === 'contract' ? `eip155:${proven.chainId}` : undefined
  const networks = payable(deps.assets).filter(
    (network) => (body.network ?? network) === network && (own ?? chainOfAsset(network)) === chainOfAsset(network),
  )
  const refunds = await deps.database.transaction((tx) => refundOn(deps, tx, proven.address, networks, amountMicro))
  if (refunds.length === 0) {
    for (const network of networks) await requireNoneInProgress(deps.database, network, proven.address)
    throw new Problem('credit_unavailable', {
      detail: `Nothing above the cost of ${formatUsd(deps.policy.refundCostMicro)} USD can be refunded now.`,
    })
  }
  return { wallet: checksumAddress(proven.address), refunds: refunds.map(refundView) }
}

async function refundOn(
  { ids, clock, policy, payoutPolicy }: CreditRouteDeps,
  tx: Tx,
  wallet: Address,
  networks: readonly string[],
  amountMicro: Micro | undefined,
): Promise<CreditRefund[]> {
  const refunds: CreditRefund[] = []
  // In one order, so that two refunds of a wallet never wait for each other in a circle.
  for (const network of [...networks].sort()) {
    const parts = await refundCredit(tx, {
      nextId: () => ids.next('po'),
      wallet,
      network,
      amountMicro,
      costMicro: policy.refundCostMicro,
      approvalMicro: payoutPolicy.approvalMicro,
      nowMs: clock.nowMs(),
    })
    refunds.push(...parts)
  }
  return refunds
}

const refundView = ({ network, refundedMicro, costMicro, paidMicro, payoutId, approved }: CreditRefund) => ({
  network,
  refunded_micro: refundedMicro.toString(),
  cost_micro: costMicro.toString(),
  paid_micro: paidMicro.toString(),
  payout: payoutId,
  state: approved ? 'queued' : 'waiting',
})
