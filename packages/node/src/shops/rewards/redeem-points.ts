import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Clock } from '@assay/till/kernel/clock'
import type { Ids } from '@assay/till/kernel/ids'
import { lockAccounts, post } from '@assay/till/ledger'
import type { DerivedToken, TokenMaker } from '@assay/till/signing'
import type { Database, Tx } from '@assay/till/store/database'
import { createBatcher } from '@assay/till/store/group-commit'
import { rewardAccounts } from './accounts.ts'
import type { Reward, RewardsPolicy } from './policy.ts'
import { insertPasses, insertRedemptions, pendingPoints, pointBalances, readRedemptions } from './redemption-store.ts'

export type RedemptionRequest = {
  nonce: string
  /** Hash of the whole request: the same nonce with another request is refused. */
  requestHash: Buffer
  wallet: Address
  points: bigint
  reward: Reward
}

export type Redeemed = {
  nonce: string
  passId: string
  tokenSecret: number
  reward: string
  calls: number
  maxPriceMicro: Micro
  points: bigint
  balance: bigint
  madeAtMs: number
  expiresAtMs: number
}

export type RedeemOutcome =
  | { status: 'redeemed'; redeemed: Redeemed }
  | { status: 'conflict' }
  | { status: 'short'; balance: bigint; pending: bigint }

export type RedeemDeps = { database: Database; clock: Clock; ids: Ids; tokens: TokenMaker; policy: RewardsPolicy }

/** Somebody else used one of the nonces between our read and our write: the next read sees it. */
class NonceRace extends Error {}

/**
 * Nonce, debit and pass in one transaction. Redemptions that arrive together share it: against one balance each would
 * otherwise wait for the commit of the one before.
 */
export function createRedeemPoints(deps: RedeemDeps) {
  const batcher = createBatcher<RedemptionRequest, RedeemOutcome>({
    maxItems: 256,
    maxConcurrent: 1,
    run: (requests) => redeemAll(deps, requests),
  })
  return { redeem: (request: RedemptionRequest) => batcher.submit(request) }
}

export type RedeemPoints = ReturnType<typeof createRedeemPoints>

async function redeemAll(deps: RedeemDeps, requests: readonly RedemptionRequest[]): Promise<RedeemOutcome[]> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await deps.database.transaction((tx) => redeemIn(deps, tx, requests))
    } catch (error) {
      if (!(error instanceof NonceRace) || tries >= 4) throw error
    }
  }
}

async function redeemIn(deps: RedeemDeps, tx: Tx, requests: readonly RedemptionRequest[]): Promise<RedeemOutcome[]> {
  const wallets = [...new Set(requests.map(({ wallet }) => wallet))]
  await lockAccounts(tx, wallets.map(rewardAccounts.points))
  const known = await readRedemptions(
    tx,
    requests.map(({ nonce }) => nonce),
  )
  const balances = await pointBalances(tx, wallets)
  const pending = await pendingPoints(tx, wallets)
  const issue = await deps.tokens.issuer(tx)
  const made: (Redeemed & { request: RedemptionRequest; tokenHash: Buffer })[] = []
  const outcomes = requests.map((request): RedeemOutcome => {
    const { nonce, wallet, points } = request
    const earlier = known.get(nonce)
    if (earlier)
      return earlier.requestHash.equals(request.requestHash)
        ? { status: 'redeemed', redeemed: earlier.redeemed }
        : { status: 'conflict' }
    const balance = balances.get(wallet) ?? 0n
    const waiting = pending.get(wallet) ?? 0n
    if (balance - waiting < points) return { status: 'short', balance, pending: waiting }
    balances.set(wallet, balance - points)
    const { redeemed, tokenHash } = makeRedeemed(deps, issue, request, balance - points)
    known.set(nonce, { requestHash: request.requestHash, redeemed })
    made.push({ ...redeemed, request, tokenHash })
    return { status: 'redeemed', redeemed }
  })
  if (made.length === 0) return outcomes
  if ((await insertRedemptions(tx, made)) < made.length) throw new NonceRace()
  await insertPasses(tx, made)
  await post(
    tx,
    made.map(({ nonce, request }) => ({
      reference: `redeem:${nonce}`,
      kind: 'redeem',
      lines: [
        { account: rewardAccounts.points(request.wallet), amount: request.points },
        { account: rewardAccounts.pointsRedeemed(), amount: -request.points },
      ],
    })),
  )
  return outcomes
}

function makeRedeemed(
  deps: RedeemDeps,
  issue: (name: string) => DerivedToken,
  { nonce, points, reward }: RedemptionRequest,
  balance: bigint,
): { redeemed: Redeemed; tokenHash: Buffer } {
  const passId = deps.ids.next('pass')
  const { hash, secretVersion } = issue(passId)
  const madeAtMs = deps.clock.nowMs()
  const redeemed = {
    nonce,
    passId,
    tokenSecret: secretVersion,
    reward: reward.id,
    maxPriceMicro: reward.maxPriceMicro,
    calls: Number(points / reward.points),
    points,
    balance,
    madeAtMs,
    expiresAtMs: madeAtMs + deps.policy.passDays * 86_400_000,
  }
  return { redeemed, tokenHash: hash }
}
