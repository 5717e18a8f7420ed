import { z } from 'zod'
import { jsonAnswer } from '../../packages/node/src/http/index.ts'
import { declareShop } from '../../packages/node/src/shops/shop.ts'
import { SettingsError } from '../../packages/node/src/shops/shop-settings.ts'
import { defineProblems, Problem, problemRow } from '../../packages/till/src/kernel/problem.ts'
import { accounts, credit, debit, post } from '../../packages/till/src/ledger/index.ts'
import { createPauseReader } from '../../packages/till/src/store/pauses.ts'

export const toyProblems = defineProblems({
  toy_missing: problemRow(404, false, 'No such toy', 'GET /toys lists them.'),
  toys_paused: problemRow(503, true, 'Toys are not sold at the moment', 'Try again later.'),
})

export const maker = `0x${'d0'.repeat(20)}` as const

/** A shop of one folder: settings, problems, an account and a payout purpose, a pause, a table and demo data. */
export const toyShop = declareShop({
  name: 'toys',
  variables: {
    TOYS: { kind: 'json', default: '{"names":["ball"]}', description: 'JSON object: the toys.', secret: false },
  },
  migrations: [new URL('./migrations/', import.meta.url)],
  configure: ({ TOYS }) => {
    const names = z.array(z.string().max(20)).safeParse(TOYS['names'])
    if (!names.success) throw new SettingsError(['TOYS: names must be a list of names'])
    return async ({ base, database, clock }) => {
      const pauses = await createPauseReader(database, clock)
      return {
        routes: [
          {
            id: 'toys.buy',
            mcp: 'both',
            area: 'core',
            method: 'GET',
            path: '/toys/:name',
            summary: 'A toy, for a price',
            params: z.strictObject({ name: z.string().max(20) }),
            output: z.strictObject({ toy: z.string() }),
            example: { params: { name: 'ball' }, output: { toy: 'ball' } },
            next: '/',
            access: {
              kind: 'paid',
              price: { kind: 'fixed', micro: 1_000n },
              networks: [base.caip2],
              payee: 'custody',
              revocable: false,
              prepare: async ({ params }) => {
                if ((await pauses.read()).get('toys').paused) throw new Problem(toyProblems.toys_paused)
                if (!names.data.includes(params.name)) throw new Problem(toyProblems.toy_missing)
                return { answer: jsonAnswer({ toy: params.name }), reservation: { toy: params.name } }
              },
              commit: async (tx, sale) => {
                const { toy } = sale.reservation as { toy: string }
                await tx.query('insert into toy_sold (payment_id, toy) values ($1, $2)', [sale.paymentId, toy])
                await post(tx, [
                  {
                    reference: `toy:${sale.paymentId}`,
                    kind: 'toy',
                    paymentId: sale.paymentId,
                    lines: [
                      debit(accounts.clearingPayments(sale.network), 1_000n),
                      credit(accounts.payable(sale.network, maker, 'toy_maker'), 1_000n),
                    ],
                  },
                ])
                return undefined
              },
            },
          },
        ],
        payoutPurposes: [{ purpose: 'toy_maker', minimumMicro: 1_000_000n }],
        prompts: [
          {
            name: 'buy_toy',
            title: 'Buy a toy',
            description: 'Buy a toy by its name.',
            arguments: [{ name: 'toy', description: 'Name of the toy', required: true }],
            tools: ['toys_buy'],
            write: ({ toy }) => `Call toys_buy with name ${toy}.`,
          },
        ],
        demo: () => ({ toys: names.data }),
        stop: async () => pauses.stop(),
      }
    }
  },
})
