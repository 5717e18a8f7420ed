import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { formatUsd } from '@assay/protocol/money'
import { nodeDomain } from '@assay/protocol/typed-data/node-domain'
import { addressText } from '@assay/till/kernel/address-text'
import { nowSeconds, toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { checkAccountSignature, personalMessageDigest, statementTypedData } from '@assay/till/proofs'
import type { TokenMaker } from '@assay/till/signing'
import { z } from 'zod'
import { defineRoute, jsonAnswer, type RouteDeclaration } from '../../http/index.ts'
import type { ShopContext } from '../shop.ts'
import type { Reward, RewardsPolicy } from './policy.ts'
import { rewardProblems } from './problems.ts'
import type { Redeemed, RedeemPoints } from './redeem-points.ts'
import {
  type RedeemMessage,
  redeemDigest,
  redeemStatement,
  redeemText,
  redeemTypes,
  requestHash,
} from './redeem-statement.ts'
import { hasBoughtOn, pendingPoints, pointBalances, readRedemptions, reissuePass } from './redemption-store.ts'

export type RedeemRouteDeps = Pick<ShopContext, 'database' | 'clock' | 'proofs' | 'baseUrl' | 'base'> & {
  policy: RewardsPolicy
  points: RedeemPoints
  passTokens: TokenMaker
}

const ttlSeconds = 300
const pointsText = z.string().regex(/^[1-9][0-9]{0,14}$/, 'must be a whole number of points')
const chainText = z.string().regex(/^eip155:[1-9][0-9]{0,14}$/)
const exampleWallet = '0x1111111111111111111111111111111111111111'

const rewardView = z.strictObject({ id: z.string(), what: z.string(), points: z.string(), max_price_usd: z.string() })
const showReward = ({ id, what, points, maxPriceMicro }: Reward) => ({
  id,
  what,
  points: points.toString(),
  max_price_usd: formatUsd(maxPriceMicro),
})

export function redeemRoutes(deps: RedeemRouteDeps): RouteDeclaration[] {
  return [infoRoute(deps), redeemRoute(deps)]
}

const infoOutput = z.object({
  rates: z.array(z.object({ tier: z.string(), from_usd: z.string(), points_per_usd: z.string() })),
  rewards: z.array(rewardView),
  how: z.object({
    post: z.string(),
    domain: z.unknown(),
    types: z.unknown(),
    primary_type: z.string(),
    schemes: z.array(z.string()),
    chains: z.array(z.string()),
    seconds: z.number(),
  }),
  balance: z.string().optional(),
  pending: z.string().optional(),
  sign: z
    .object({
      nonce: z.string(),
      issued_at: z.string(),
      expires_at: z.string(),
      typed_data: z.unknown(),
      message: z.string(),
    })
    .optional(),
})

function infoRoute(deps: RedeemRouteDeps): RouteDeclaration {
  const query = z.strictObject({
    wallet: addressText.optional(),
    reward: z.string().max(31).optional(),
    points: pointsText.optional(),
    chain_id: chainText.optional(),
  })
  return defineRoute({
    id: 'rewards.redeem_info',
    mcp: 'none',
    main: true,
    area: 'B',
    method: 'GET',
    path: '/redeem/info',
    summary: 'What points are worth, and what to sign to redeem them',
    description:
      'Without `wallet`: rates, rewards and how to sign. With it: the balance, and the statement to sign, good once for five minutes.',
    query,
    output: infoOutput,
    example: { output: { ...generalInfo(deps) } },
    next: '/redeem',
    access: { kind: 'free', handle: async (input) => jsonAnswer(await readInfo(deps, query.parse(input.query))) },
  })
}

function generalInfo({ policy, baseUrl, base, proofs }: RedeemRouteDeps) {
  return {
    rates: policy.tiers.map(({ name, fromMicro, pointsPerUsd }) => ({
      tier: name,
      from_usd: formatUsd(fromMicro),
      points_per_usd: pointsPerUsd.toString(),
    })),
    rewards: policy.rewards.map(showReward),
    how: {
      post: '/redeem',
      domain: nodeDomain(baseUrl, base.chainId),
      types: redeemTypes,
      primary_type: 'Redeem',
      schemes: ['eip712', 'eip191', 'eip1271', 'eip6492'],
      chains: proofs.chainIds.map((id) => `eip155:${id}`),
      seconds: ttlSeconds,
    },
  }
}

async function readInfo(
  deps: RedeemRouteDeps,
  query: {
    wallet?: string | undefined
    reward?: string | undefined
    points?: string | undefined
    chain_id?: string | undefined
  },
) {
  const general = generalInfo(deps)
  const owner = parseAddress(query.wallet)
  if (owner === undefined) return general
  const reward =
    query.reward === undefined ? deps.policy.rewards[0] : deps.policy.rewards.find(({ id }) => id === query.reward)
  if (!reward) throw unknownReward(deps)
  const chainId = chainIdOf(deps, query.chain_id)
  const { nonce, expiresAtMs } = deps.proofs.nonces.issue(redeemScope(deps), ttlSeconds * 1000)
  const message: RedeemMessage = {
    wallet: owner,
    points: query.points === undefined ? reward.points : BigInt(query.points),
    reward: reward.id,
    nonce,
    issuedAt: nowSeconds(deps.clock),
    expiresAt: Math.floor(expiresAtMs / 1000),
  }
  return {
    ...general,
    how: { ...general.how, domain: nodeDomain(deps.baseUrl, chainId) },
    balance: ((await pointBalances(deps.database, [owner])).get(owner) ?? 0n).toString(),
    pending: ((await pendingPoints(deps.database, [owner])).get(owner) ?? 0n).toString(),
    sign: {
      nonce,
      issued_at: toRfc3339(message.issuedAt * 1000),
      expires_at: toRfc3339(message.expiresAt * 1000),
      typed_data: statementTypedData(redeemStatement(message), deps.baseUrl, chainId),
      message: redeemText(message, deps.baseUrl, chainId),
    },
  }
}

/** A nonce of a sign-in challenge must not redeem, nor the other way round. */
const redeemScope = ({ baseUrl }: Pick<RedeemRouteDeps, 'baseUrl'>) => `${baseUrl} redeem`

function chainIdOf({ base, proofs }: RedeemRouteDeps, chain: string | undefined): number {
  const chainId = chain === undefined ? base.chainId : Number(chain.slice('eip155:'.length))
  if (proofs.chainIds.includes(chainId)) return chainId
  throw new Problem('input_invalid', { detail: `chain_id must be one of ${proofs.chainIds.join(', ')}` })
}

const unknownReward = ({ policy }: RedeemRouteDeps) =>
  new Problem('input_invalid', { detail: `reward must be one of ${policy.rewards.map(({ id }) => id).join(', ')}` })

const redeemBody = z.strictObject({
  wallet: addressText,
  points: pointsText,
  reward: z.string().max(31),
  nonce: z.string().regex(/^[0-9a-f]{32}$/),
  issued_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
  signature: z.string().regex(/^0x[0-9a-fA-F]{2,16384}$/),
  scheme: z.enum(['eip712', 'eip191']).optional(),
  chain_id: chainText.optional(),
})
type RedeemBody = z.infer<typeof redeemBody>

const passView = z.strictObject({
  id: z.string(),
  token: z.string().nullable(),
  reward: z.string(),
  calls: z.number(),
  max_price_usd: z.string(),
  expires_at: z.string(),
})

function redeemRoute(deps: RedeemRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'rewards.redeem',
    mcp: 'none',
    main: true,
    area: 'B',
    method: 'POST',
    path: '/redeem',
    summary: 'Burn points for a pass that paid routes accept in place of payment',
    description:
      'Send what GET /redeem/info gave, signed (EIP-712, EIP-191 or by a contract wallet). The same request again gets the first result.',
    body: redeemBody,
    output: z.strictObject({ pass: passView, points: z.string(), balance: z.string() }),
    example: {
      body: {
        wallet: exampleWallet,
        points: '1000',
        reward: 'pull',
        nonce: '0'.repeat(32),
        issued_at: '2026-01-01T00:00:00.000Z',
        expires_at: '2026-01-01T00:05:00.000Z',
        signature: `0x${'00'.repeat(65)}`,
      },
      output: {
        pass: {
          id: 'pass_06d1z8k4q2v7e9m3x5c0w8r2t4',
          token: `apass_1_${'0'.repeat(52)}`,
          reward: 'pull',
          calls: 1,
          max_price_usd: '0.05',
          expires_at: '2026-01-31T00:00:00.000Z',
        },
        points: '1000',
        balance: '0',
      },
    },
    next: '/v1/subscriptions/plans',
    nextElse: '/',
    cost: 2,
    access: { kind: 'free', handle: async (input) => jsonAnswer(await redeem(deps, redeemBody.parse(input.body))) },
  })
}

async function redeem(deps: RedeemRouteDeps, body: RedeemBody) {
  const owner = parseAddress(body.wallet) as Address
  const hash = requestHash({ ...body, wallet: owner, scheme: body.scheme ?? '', chain_id: body.chain_id ?? '' })
  // Looked up first: the first result is given again even after the five minutes, and after a change of the rewards.
  const earlier = (await readRedemptions(deps.database, [body.nonce])).get(body.nonce)
  if (earlier) {
    if (!earlier.requestHash.equals(hash)) throw new Problem(rewardProblems.redemption_conflict)
    return show(deps, earlier.redeemed)
  }
  const reward = deps.policy.rewards.find(({ id }) => id === body.reward)
  if (!reward) throw unknownReward(deps)
  const points = BigInt(body.points)
  if (points % reward.points !== 0n || points / reward.points > 1_000n)
    throw new Problem('input_invalid', { detail: `points must be 1 to 1000 times ${reward.points} for ${reward.id}` })
  await checkSigned(deps, body, owner, points)
  const outcome = await deps.points.redeem({ nonce: body.nonce, requestHash: hash, wallet: owner, points, reward })
  if (outcome.status === 'conflict') throw new Problem(rewardProblems.redemption_conflict)
  if (outcome.status === 'short')
    throw new Problem(rewardProblems.points_insufficient, {
      detail: `The wallet has ${outcome.balance} points, ${outcome.pending} of them pending.`,
      extra: { balance: outcome.balance.toString(), pending: outcome.pending.toString() },
    })
  return show(deps, outcome.redeemed)
}

async function checkSigned(deps: RedeemRouteDeps, body: RedeemBody, owner: Address, points: bigint): Promise<void> {
  const issuedAt = seconds(body.issued_at)
  const expiresAt = seconds(body.expires_at)
  const now = nowSeconds(deps.clock)
  const nonceExpiresAt = Number.parseInt(body.nonce.slice(0, 8), 16)
  if (expiresAt <= now || nonceExpiresAt <= now) throw new Problem(rewardProblems.redemption_expired)
  if (expiresAt - issuedAt > ttlSeconds || issuedAt > now + 5)
    throw new Problem('proof_invalid', { detail: `A statement is good for ${ttlSeconds} seconds from its issue.` })
  if (deps.proofs.nonces.check(body.nonce, redeemScope(deps)) === undefined)
    throw new Problem('proof_invalid', {
      detail: 'The nonce is not one of this node.',
      hint: 'Get one from GET /redeem/info.',
    })
  const chainId = chainIdOf(deps, body.chain_id)
  const message: RedeemMessage = { wallet: owner, points, reward: body.reward, nonce: body.nonce, issuedAt, expiresAt }
  const account = { chainId, address: owner }
  const signature = body.signature as Hex
  const digest =
    body.scheme === 'eip191'
      ? personalMessageDigest(Buffer.from(redeemText(message, deps.baseUrl, chainId)))
      : redeemDigest(message, deps.baseUrl, chainId)
  const proven = await checkAccountSignature(deps.proofs.checkContractSignature, { account, digest, signature })
  if (!proven)
    throw new Problem('proof_invalid', { detail: 'The redemption is not signed by this wallet for this node.' })
  // The same address can be another contract with another owner on the other chain.
  if (proven.kind === 'contract' && !(await hasBoughtOn(deps.database, owner, `eip155:${chainId}`)))
    throw new Problem('proof_invalid', {
      detail: `This contract wallet bought nothing on eip155:${chainId}, so its signature there does not count.`,
      hint: 'Sign with the contract on a chain on which it paid, and name that chain in chain_id.',
    })
}

const seconds = (text: string): number => Math.floor(Date.parse(text) / 1000)

/** The pass was paid for with points: repeating its redemption after its token was revoked returns a new token. */
async function passToken({ database, passTokens }: RedeemRouteDeps, redeemed: Redeemed): Promise<string | null> {
  const { passId, tokenSecret } = redeemed
  const known = await passTokens.remake(database, tokenSecret, passId)
  if (known !== undefined) return known
  const made = (await passTokens.issuer(database))(passId)
  return (await reissuePass(database, passId, made)) ? made.token : null
}

async function show(deps: RedeemRouteDeps, redeemed: Redeemed) {
  return {
    pass: {
      id: redeemed.passId,
      token: await passToken(deps, redeemed),
      reward: redeemed.reward,
      calls: redeemed.calls,
      max_price_usd: formatUsd(redeemed.maxPriceMicro),
      expires_at: toRfc3339(redeemed.expiresAtMs),
    },
    points: redeemed.points.toString(),
    balance: redeemed.balance.toString(),
  }
}
