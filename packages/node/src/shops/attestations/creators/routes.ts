import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { parseUsd } from '@assay/protocol/money'
import { walletParams } from '@assay/till/kernel/address-text'
import type { Clock } from '@assay/till/kernel/clock'
import { fieldProblem, Problem } from '@assay/till/kernel/problem'
import { type ProofDeps, verifySignedRequest } from '@assay/till/proofs'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration } from '../../../http/index.ts'
import { domainInput, walletInput } from '../../sources/index.ts'
import { exampleWallet } from '../attest/schemas.ts'
import { type AskMoveDeps, askMove } from './ask-move.ts'
import { type DescribeCreatorDeps, describeCreator } from './describe-creator.ts'
import { describeEpoch } from './describe-epoch.ts'
import { earningsRoute } from './earnings-route.ts'

export type CreatorRouteDeps = DescribeCreatorDeps & AskMoveDeps & { proofs: ProofDeps; clock: Clock }

const move = z.looseObject({
  network: z.string(),
  distributor: z.string(),
  domain: z.string().nullable(),
  from: z.string(),
  to: z.string(),
  state: z.enum(['asked', 'pending', 'moved', 'refused']),
  ready_at: z.string().nullable(),
  note: z.string(),
})
const output = z.looseObject({
  wallet: z.string(),
  earned_micro: z.string(),
  chains: z.array(
    z.looseObject({
      network: z.string(),
      accrued_micro: z.string(),
      held_micro: z.string(),
      committed_micro: z.string(),
      claimed_micro: z.string(),
      claimable_micro: z.string(),
      threshold_micro: z.string(),
      distributor: z.string(),
      earlier_distributors: z.array(z.string()).describe('Contracts that pay what they were given before.'),
      claims: z
        .array(z.looseObject({ to: z.string(), data: z.string(), domain: z.string().nullable(), micro: z.string() }))
        .describe('Transactions that anybody may send; the USDC goes to the creator.'),
    }),
  ),
  moves: z.array(move),
  payouts: z.array(
    z.looseObject({
      network: z.string(),
      transaction: z.string(),
      payee: z.string(),
      amount_micro: z.string(),
      claimed_at: z.string(),
    }),
  ),
  recent: z.array(z.looseObject({ id: z.string(), micro: z.string(), state: z.string() })),
})
const example = {
  wallet: exampleWallet,
  earned_micro: '4500',
  chains: [
    {
      network: 'eip155:8453',
      accrued_micro: '4500',
      held_micro: '0',
      committed_micro: '0',
      claimed_micro: '0',
      claimable_micro: '0',
      threshold_micro: '1000000',
      distributor: exampleWallet,
      earlier_distributors: [],
      claims: [],
    },
  ],
  moves: [],
  payouts: [],
  recent: [{ id: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c', micro: '4500', state: 'accrued' }],
}
const addressOf = (text: string): Address => parseAddress(text) as Address

export function creatorRoutes(deps: CreatorRouteDeps): RouteDeclaration[] {
  return [showRoute(deps), earningsRoute(deps), thresholdRoute(deps), epochRoute(deps), moveRoute(deps)]
}

function showRoute(deps: CreatorRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'creators.show',
    capability: 'citations.creator.show',
    area: 'C',
    method: 'GET',
    path: '/v1/creators/:wallet',
    summary: 'What a creator has earned, what is on chain for it, and how to claim it without us',
    params: walletParams,
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
    params: walletParams,
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
          throw fieldProblem('threshold_usd', 'must be 0.01 to 1000')
        if ((await signerOf(deps, call)) !== wallet)
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

async function signerOf(deps: CreatorRouteDeps, call: CallContext): Promise<Address> {
  const { address } = await verifySignedRequest(deps.proofs, {
    method: call.method,
    ...call.received,
    headers: call.headers,
    rawBody: call.rawBody,
  })
  return address
}

const epochParams = z.strictObject({
  network: z.string().regex(/^eip155:[1-9][0-9]{0,18}$/, 'must be a network such as eip155:8453'),
  epoch: z.string().regex(/^[1-9][0-9]{0,17}$/, 'must be the number of an epoch'),
})
const share = z.looseObject({ id: z.string(), micro: z.string(), log_index: z.string().nullable() })
const exampleRoot = `0x${'5a'.repeat(32)}`

const exampleEpoch = {
  network: 'eip155:8453',
  distributor: exampleWallet,
  epoch: '1',
  root: exampleRoot,
  pot_micro: '4500',
  state: 'committed',
  opens_at: null,
  commit_transaction: null,
  leaves: [
    {
      account: exampleRoot,
      domain: 'example.com',
      wallet: exampleWallet,
      micro: '4500',
      shares: [{ id: 'att_01jcxk6v3q8m5r7t9w2y4z6a8c', micro: '4500', log_index: '0' }],
      set_off: [],
    },
  ],
  next: null,
}

/** What anybody needs to compare a root with the log before the contract pays it. */
function epochRoute(deps: CreatorRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'creators.epoch',
    capability: 'citations.creator.epoch',
    area: 'C',
    method: 'GET',
    path: '/v1/creators/epochs/:network/:epoch',
    summary: 'The leaves of an epoch on chain, and the entries of the log that each of them sums',
    params: epochParams,
    query: z.strictObject({
      from: z
        .string()
        .regex(/^\d{1,6}$/, 'must be a number')
        .optional()
        .describe('Leaves to leave out, from `next` of the page before.'),
      distributor: walletInput.optional().describe('An earlier contract, which counts epochs from 1 as well.'),
    }),
    output: z.looseObject({
      network: z.string(),
      distributor: z.string(),
      epoch: z.string(),
      root: z.string(),
      pot_micro: z.string(),
      state: z.string(),
      opens_at: z.string().nullable(),
      commit_transaction: z.string().nullable(),
      leaves: z.array(
        z.looseObject({
          account: z.string(),
          domain: z.string().nullable(),
          wallet: z.string(),
          micro: z.string(),
          shares: z.array(share),
          set_off: z.array(share),
        }),
      ),
      next: z.number().nullable(),
    }),
    example: {
      params: { network: 'eip155:8453', epoch: '1' },
      output: exampleEpoch,
    },
    next: '/v1/log',
    cost: 5,
    access: {
      kind: 'free',
      handle: async ({ params, query }) =>
        jsonAnswer(
          await describeEpoch(deps, {
            network: params.network,
            epoch: BigInt(params.epoch),
            from: Number(query.from ?? 0),
            ...(query.distributor === undefined ? {} : { distributor: addressOf(query.distributor) }),
          }),
        ),
    },
  })
}

function moveRoute(deps: CreatorRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'creators.move',
    capability: 'citations.creator.move',
    area: 'C',
    method: 'POST',
    path: '/v1/sources/:domain/move',
    summary: 'Ask for what a domain earned for an earlier wallet that was lost',
    description:
      'Signed (ERC-8128) by the wallet that the domain names now. The proof is looked for again. The move is announced on chain; the earlier wallet can refuse it there until it is ready.',
    params: z.strictObject({ domain: domainInput }),
    body: z.strictObject({ from: walletInput.describe('The earlier wallet.') }),
    output: z.looseObject({
      domain: z.string(),
      from: z.string(),
      moves: z.array(move),
    }),
    example: {
      params: { domain: 'example.com' },
      body: { from: exampleWallet },
      output: {
        domain: 'example.com',
        from: exampleWallet,
        moves: [
          {
            network: 'eip155:8453',
            distributor: exampleWallet,
            domain: 'example.com',
            from: exampleWallet,
            to: exampleWallet,
            state: 'asked',
            ready_at: null,
            note: 'The move is announced on chain.',
          },
        ],
      },
    },
    next: '/v1/sources/:domain',
    cost: 10,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ params, body }, call) =>
        jsonAnswer(
          await askMove(deps, {
            domain: params.domain,
            from: addressOf(body.from),
            signedBy: await signerOf(deps, call),
          }),
        ),
    },
  })
}
