import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type ShopContext } from '../http/index.ts'
import { type Address, checksumAddress, parseAddress } from '../kernel/address.ts'
import { formatUsd, type Micro, parseUsd } from '../kernel/money.ts'
import { Problem } from '../kernel/problem.ts'
import { accounts, owedTo, post } from '../ledger/index.ts'
import type { Sale } from '../payments/index.ts'
import type { Sql, Tx } from '../store/database.ts'

export type CreditRouteDeps = Pick<ShopContext, 'base' | 'polygon' | 'database'>

const lowestMicro = 1_000_000n
const highestMicro = 1_000_000_000n
const exampleWallet = '0x1111111111111111111111111111111111111111'

/** Paying in once and drawing on it: many small calls without a settlement each. */
export function creditRoutes(deps: CreditRouteDeps): RouteDeclaration[] {
  return [topUpRoute(deps), balanceRoute(deps)]
}

const creditView = z.strictObject({
  wallet: z.string(),
  credit: z.array(z.strictObject({ network: z.string(), credit_micro: z.string(), credit_usd: z.string() })),
})

function topUpRoute({ base, polygon }: CreditRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'credit.topup',
    area: 'core',
    method: 'GET',
    path: '/v1/credit/topup',
    summary: 'Pay USDC in, to be drawn on by signed requests',
    description: 'From 1 to 1000 USD, on either chain. A request signed by the wallet (ERC-8128) is then paid from it.',
    query: z.strictObject({ usd: z.string().describe('How much, such as 5 or 12.5.').optional() }),
    output: z.strictObject({
      wallet: z.string(),
      network: z.string(),
      added_micro: z.string(),
      credit_micro: z.string(),
      provisional: z.boolean(),
    }),
    example: {
      query: { usd: '5' },
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
      price: { kind: 'from_input', lowestMicro, highestMicro, of: (input) => amountOf(input.query.usd) },
      networks: [base.caip2, polygon.caip2],
      payee: 'custody',
      revocable: true,
      prepare: async () => ({ answer: jsonAnswer({}) }),
      commit: (tx, sale) => addCredit(tx, sale),
      // What is left of it is taken back with the postings of the payment; there is nothing beside them.
      revoke: async () => {},
    },
  })
}

function amountOf(text: string | undefined): Micro {
  if (text === undefined) return lowestMicro
  const micro = parseUsd(text)
  if (micro === undefined || micro < lowestMicro || micro > highestMicro)
    throw new Problem('input_invalid', {
      detail: `query.usd must be decimal USD from ${formatUsd(lowestMicro)} to ${formatUsd(highestMicro)}`,
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
        { account: credit, amount: -sale.amountMicro },
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

function balanceRoute({ database, base, polygon }: CreditRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'credit.balance',
    area: 'core',
    method: 'GET',
    path: '/v1/credit/:wallet',
    summary: 'What a wallet has paid in and not used',
    params: z.strictObject({ wallet: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a wallet address') }),
    output: creditView,
    example: {
      params: { wallet: exampleWallet },
      output: { wallet: exampleWallet, credit: [{ network: base.caip2, credit_micro: '0', credit_usd: '0' }] },
    },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      handle: async (input) => {
        const wallet = parseAddress(input.params.wallet) as Address
        const credit = await Promise.all(
          [base.caip2, polygon.caip2].map((network) => creditOn(database, network, wallet)),
        )
        return jsonAnswer({ wallet: checksumAddress(wallet), credit })
      },
    },
  })
}

async function creditOn(sql: Sql, network: string, wallet: Address) {
  const micro = await owedTo(sql, accounts.credit(network, wallet))
  return { network, credit_micro: micro.toString(), credit_usd: formatUsd(micro) }
}
