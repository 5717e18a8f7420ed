import { type Address, parseAddress } from '@assay/protocol/address'
import { parseUsd } from '@assay/protocol/money'
import { lockBondOf } from '@assay/till/credit/bonds/lock-bond'
import { askRelease } from '@assay/till/credit/bonds/release-bond'
import { bondsOf, bondView } from '@assay/till/credit/bonds/store'
import { walletParams } from '@assay/till/kernel/address-text'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import { networkField, requireNetwork } from './network-field.ts'

export type BondRouteDeps = Pick<ShopContext, 'database' | 'clock' | 'ids' | 'proofs' | 'base' | 'networks'> & {
  releaseDelaySeconds: number
}

const daysMax = 366

const view = z.strictObject({
  id: z.string(),
  wallet: z.string(),
  network: z.string(),
  bonded_micro: z.string(),
  slashed_micro: z.string().describe('Taken by rulings.'),
  state: z.enum(['locked', 'releasing', 'released', 'slashed']),
  locked_at: z.string(),
  locked_until_at: z.string(),
  release_delay_seconds: z.number(),
  release_at: z.string().nullable().describe('When it comes back, once that was asked for.'),
  ended_at: z.string().nullable(),
})

const example = {
  id: 'bond_01jcxk6v3q8m5r7t9w2y4z6a8c',
  wallet: '0x1111111111111111111111111111111111111111',
  network: 'eip155:8453',
  bonded_micro: '1000000',
  slashed_micro: '0',
  state: 'locked',
  locked_at: '2026-12-01T00:00:00.000Z',
  locked_until_at: '2026-12-31T00:00:00.000Z',
  release_delay_seconds: 604_800,
  release_at: null,
  ended_at: null,
}

/** Credit put at stake: it gives an agent weight, and is lost by an upheld ruling. */
export function bondRoutes(deps: BondRouteDeps): RouteDeclaration[] {
  return [lockRoute(deps), releaseRoute(deps), listRoute(deps)]
}

function lockRoute(deps: BondRouteDeps): RouteDeclaration {
  const networks = deps.networks.map(({ caip2 }) => caip2)
  return defineRoute({
    id: 'credit.bond',
    area: 'core',
    method: 'POST',
    path: '/v1/credit/bond',
    summary: 'Lock a part of your credit, so that your word counts for more',
    description:
      'The request is signed by the wallet (ERC-8128). Only final money can be locked. It comes back to the credit after the time it was locked for, on request and with a delay; an upheld ruling takes it.',
    body: z.strictObject({
      usd: z.string().describe('How much, such as 5 or 12.5.'),
      days: z.number().int().min(1).max(daysMax),
      network: networkField.describe('Where the credit lies; Base by default.').optional(),
    }),
    output: view,
    example: { body: { usd: '1', days: 30 }, output: example },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) => {
        const signer = await bonderOf(deps, call)
        const micro = parseUsd(input.body.usd)
        if (micro === undefined || micro === 0n)
          throw new Problem('input_invalid', { detail: 'body.usd must be decimal USD above zero' })
        const network = requireNetwork(input.body.network ?? deps.base.caip2, networks)
        if ((signer.onlyNetwork ?? network) !== network)
          throw new Problem('forbidden', { detail: 'A contract wallet is believed on its own chain only.' })
        const bond = await lockBondOf(deps, { wallet: signer.address, network, micro, days: input.body.days })
        return jsonAnswer(bondView(bond))
      },
    },
  })
}

function releaseRoute(deps: BondRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'credit.bond.release',
    area: 'core',
    method: 'POST',
    path: '/v1/credit/bond/release',
    summary: 'Ask for a bond back; it follows after a delay, and can be taken by a ruling until then',
    description: 'The request is signed by the wallet (ERC-8128). From then on the bond gives no weight any more.',
    body: z.strictObject({ bond_id: z.string().max(64) }),
    output: view,
    example: {
      body: { bond_id: example.id },
      output: { ...example, state: 'releasing', release_at: '2026-12-31T00:00:00.000Z' },
    },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (input, call) =>
        jsonAnswer(bondView(await askRelease(deps, await bonderOf(deps, call), input.body.bond_id))),
    },
  })
}

function listRoute({ database }: BondRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'credit.bonds',
    area: 'core',
    method: 'GET',
    path: '/v1/credit/:wallet/bonds',
    summary: 'What a wallet has at stake, newest first',
    params: walletParams,
    output: z.strictObject({ data: z.array(view), next_cursor: z.null() }),
    example: { params: { wallet: example.wallet }, output: { data: [example], next_cursor: null } },
    next: '/v1/credit/topup',
    access: {
      kind: 'free',
      handle: async (input) => {
        const bonds = await bondsOf(database, parseAddress(input.params.wallet) as Address)
        return jsonAnswer({ data: bonds.map(bondView), next_cursor: null })
      },
    },
  })
}

async function bonderOf(deps: BondRouteDeps, call: CallContext) {
  const { address, kind, chainId } = await signerOf(deps, call)
  return { address, onlyNetwork: kind === 'contract' ? `eip155:${chainId}` : undefined }
}
