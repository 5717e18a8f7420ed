import { checksumAddress } from '@assay/protocol/address'
import type { Log } from '@assay/till/kernel/log'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration, type Unavailable } from '../../http/index.ts'
import { withProof } from '../attestations/index.ts'
import {
  commitRemittance,
  describeRemittance,
  prepareRemittance,
  type RoyaltyDeps,
  remitPrice,
  remitRouteId,
  royaltyOn,
} from './remit.ts'
import { findRemittance, remittancesOf } from './store.ts'

export type RoyaltyRouteDeps = RoyaltyDeps & {
  log: Log
  network: string
  contract: string
  /** Why nothing can be logged now. */
  logUnavailable(): Unavailable | undefined
}

const salePriceMicroMax = 1_000_000_000_000n
const exampleWallet = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const exampleId = 'roy_01jcxk6v3q8m5r7t9w2y4z6a8c'
const parentPattern = /^(?:att|clm|roy|pay)_[0-9a-hjkmnp-tv-z]{26}$/

export function royaltyRoutes(deps: RoyaltyRouteDeps): RouteDeclaration[] {
  return [infoRoute(deps), remitRoute(deps), showRoute(deps)]
}

function infoRoute(deps: RoyaltyRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'royalties.info',
    area: 'C',
    method: 'GET',
    path: '/v1/royalties/info',
    summary: 'The royalty declared on a sale of what is made from our answers, like royaltyInfo of EIP-2981',
    description:
      'Declared, and remitted through us by those who choose to: no header and no contract collects it by itself. The contract gives the same figures on chain.',
    query: z.strictObject({
      sale_price: z.string().regex(/^(?:0|[1-9][0-9]{0,76})$/, 'must be a whole number in any unit'),
    }),
    output: z.object({
      receiver: z.string(),
      royalty_amount: z.string(),
      bps: z.number(),
      network: z.string(),
      contract: z.string(),
      remit: z.string(),
    }),
    example: {
      query: { sale_price: '1000000' },
      output: {
        receiver: exampleWallet,
        royalty_amount: '25000',
        bps: 250,
        network: 'eip155:8453',
        contract: exampleWallet,
        remit: '/v1/royalties/remit',
      },
    },
    next: '/v1/royalties/remit',
    access: {
      kind: 'free',
      handle: async ({ query }) =>
        jsonAnswer({
          receiver: checksumAddress(deps.recipient),
          royalty_amount: royaltyOn(BigInt(query.sale_price), deps.bps).toString(),
          bps: deps.bps,
          network: deps.network,
          contract: deps.contract,
          remit: '/v1/royalties/remit',
        }),
    },
  })
}

const remittance = z.looseObject({
  id: z.string(),
  url: z.string(),
  royalty_micro: z.string(),
  record: z.looseObject({ parent: z.string() }),
})
const exampleRemittance = {
  id: exampleId,
  url: `https://api.example.org/v1/royalties/${exampleId}`,
  royalty_micro: '25000',
  record: { parent: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c' },
}

function remitRoute(deps: RoyaltyRouteDeps): RouteDeclaration {
  return defineRoute({
    id: remitRouteId,
    area: 'C',
    method: 'POST',
    path: '/v1/royalties/remit',
    summary: 'Remit 2.5 % of a sale, linked to the attestation, remittance or payment it was made from',
    description:
      'The price is the royalty itself. For an attestation or claim 90 % accrue for its creators and 10 % are the toll; for anything else all of it goes to the recipient in X-X402-Royalty-Recipient.',
    body: z.strictObject({
      parent: z.string().regex(parentPattern, 'must be the id of an attestation, claim, remittance or payment'),
      sale_price_micro: z
        .string()
        .regex(/^[1-9][0-9]{0,12}$/, { error: 'must be micro-USDC, at least 1', abort: true })
        .refine((text) => BigInt(text) <= salePriceMicroMax, 'must be at most 1,000,000 USD'),
    }),
    output: remittance,
    example: {
      body: { parent: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c', sale_price_micro: '1000000' },
      output: exampleRemittance,
    },
    next: `/v1/royalties/${exampleId}`,
    nextBefore: '/v1/royalties/info',
    access: {
      kind: 'paid',
      price: {
        kind: 'from_input',
        lowestMicro: 1n,
        highestMicro: remitPrice(salePriceMicroMax, deps.bps),
        of: ({ body }) => remitPrice(BigInt(body.sale_price_micro), deps.bps),
      },
      networks: [deps.network],
      payee: 'custody',
      revocable: false,
      unavailable: deps.logUnavailable,
      prepare: ({ body }) => prepareRemittance(deps, body),
      commit: (tx, sale) => commitRemittance(deps, tx, sale),
      release: withProof(deps),
    },
  })
}

function showRoute(deps: RoyaltyRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'royalties.show',
    area: 'C',
    method: 'GET',
    path: '/v1/royalties/:id',
    summary: 'One remittance: what it was made from, what was remitted for what was made from it',
    params: z.strictObject({ id: z.string().regex(/^roy_[0-9a-hjkmnp-tv-z]{26}$/, 'must be the id of a remittance') }),
    output: remittance,
    example: { params: { id: exampleId }, output: exampleRemittance },
    next: '/v1/royalties/info',
    access: {
      kind: 'free',
      handle: async ({ params }) => {
        const row = await findRemittance(deps.database, { id: params.id })
        if (!row) throw new Problem('not_found', { detail: 'There is no such remittance.' })
        const children = await remittancesOf(deps.database, row.id)
        return jsonAnswer({
          ...(await describeRemittance(deps, deps.database, row)),
          remitted_for_this: children.map(({ id, royaltyMicro }) => ({ id, royalty_micro: royaltyMicro.toString() })),
        })
      },
    },
  })
}
