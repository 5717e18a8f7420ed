import { z } from 'zod'
import { defineRoute, jsonAnswer } from '../../packages/node/src/http/index.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'

export const notePath = '/bench/notes'

const note = (number: string) => ({
  number,
  title: `Note ${number}`,
  text: 'A small free document whose address and content differ with its number, as reads of tokens, wallets and payments do.',
  synthetic: true,
})

/** A free read that needs no database: what is left is the HTTP app itself. */
export const openNotesShop: OpenShop = () => ({
  routes: [
    defineRoute({
      id: 'bench.note',
      area: 'core',
      method: 'GET',
      path: `${notePath}/:number`,
      summary: 'A numbered note',
      params: z.strictObject({ number: z.string().regex(/^[0-9a-f]{40}$/) }),
      output: z.strictObject({ number: z.string(), title: z.string(), text: z.string(), synthetic: z.boolean() }),
      example: { params: { number: '0'.repeat(40) }, output: note('0'.repeat(40)) },
      next: '/',
      cacheSeconds: 5,
      access: { kind: 'free', handle: async ({ params }) => jsonAnswer(note(params.number)) },
    }),
  ],
})
