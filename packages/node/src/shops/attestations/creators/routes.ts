import { type Address, checksumAddress, parseAddress } from '@assay/till/kernel/address'
import type { Clock } from '@assay/till/kernel/clock'
import { parseUsd } from '@assay/till/kernel/money'
import { Problem } from '@assay/till/kernel/problem'
import { type ProofDeps, verifySignedRequest } from '@assay/till/proofs'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { type DescribeCreatorDeps, describeCreator } from './describe-creator.ts'

export type CreatorRouteDeps = DescribeCreatorDeps & { proofs: ProofDeps; clock: Clock }

const params = z.strictObject({ wallet: z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be a wallet address') })
const exampleWallet = '0x8ba1f109551bD432803012645Ac136ddd64DBA72'
const output = z.looseObject({
  wallet: z.string(),
  earned_micro: z.string(),
  chains: z.array(z.looseObject({ network: z.string(), claimable_micro: z.string(), distributor: z.string() })),
  payouts: z.array(z.looseObject({ transaction: z.string(), amount_micro: z.string() })),
  recent: z.array(z.looseObject({ id: z.string(), micro: z.string(), state: z.string() })),
})
const example = {
  wallet: exampleWallet,
  earned_micro: '4500',
  chains: [{ network: 'eip155:8453', claimable_micro: '0', distributor: exampleWallet }],
  payouts: [],
  recent: [{ id: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c', micro: '4500', state: 'accrued' }],
}
const addressOf = (text: string): Address => parseAddress(text) as Address

export function creatorRoutes(deps: CreatorRouteDeps): RouteDeclaration[] {
  return [showRoute(deps), thresholdRoute(deps)]
}

function showRoute(deps: CreatorRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'creators.show',
    capability: 'citations.creator.show',
    area: 'C',
    method: 'GET',
    path: '/v1/creators/:wallet',
    summary: 'What a creator has earned, what is on chain for it, and how to claim it without us',
    params,
    output,
    example: { params: { wallet: exampleWallet }, output: example },
    next: '/v1/sources',
    cost: 2,
    access: {
      kind: 'free',
      handle: async ({ params }) => jsonAnswer(await describeCreator(deps, addressOf(params.wallet))),
    },
  })
}

const thresholdMicroMax = 1_000_000_000n

function thresholdRoute(deps: CreatorRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'creators.threshold',
    capability: 'citations.creator.threshold',
    area: 'C',
    method: 'POST',
    path: '/v1/creators/:wallet/threshold',
    summary: 'Set from which amount on a creator is sent what it has on chain',
    description: 'Signed by that wallet (ERC-8128). Claiming it oneself is possible at any time and any amount.',
    params,
    body: z.strictObject({ threshold_usd: z.string().max(20).describe('0.01 to 1000 USD.') }),
    output,
    example: { params: { wallet: exampleWallet }, body: { threshold_usd: '2' }, output: example },
    next: '/v1/creators/:wallet',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ params, body }, call) => {
        const wallet = addressOf(params.wallet)
        const micro = parseUsd(body.threshold_usd)
        if (micro === undefined || micro < 10_000n || micro > thresholdMicroMax)
          throw new Problem('input_invalid', {
            detail: 'threshold_usd must be 0.01 to 1000.',
            extra: { problems: [{ field: 'threshold_usd', problem: 'must be 0.01 to 1000' }] },
          })
        const signer = await verifySignedRequest(deps.proofs, {
          method: call.method,
          ...call.received,
          headers: call.headers,
          rawBody: call.rawBody,
        })
        if (signer.address !== wallet)
          throw new Problem('forbidden', { detail: `Only ${checksumAddress(wallet)} can set its threshold.` })
        await deps.database.query(
          `insert into creator_setting (wallet, threshold_micro, updated_at) values ($1, $2, $3)
           on conflict (wallet) do update set threshold_micro = excluded.threshold_micro, updated_at = excluded.updated_at`,
          [wallet, micro, new Date(deps.clock.nowMs())],
        )
        return jsonAnswer(await describeCreator(deps, wallet))
      },
    },
  })
}
