import type { Address } from '@assay/protocol/address'
import type { Json } from '@assay/protocol/canonical-json'
import type { JwsPort } from '@assay/till/internal'
import { type Rating, rate, ratingMethod } from './rate.ts'
import type { WalletStatus } from './read-wallet.ts'

export type SignedRating = Rating & {
  subject: string
  method: string
  issuer: string
  computed_at: string
  valid_until: string
  /** Compact JWS over all of the above. */
  jws: string
}

const validMs = 86_400_000

export type RatingQuestion = {
  did: string
  wallet: Address
  /** The one network that counts, for an account of one chain; all of them otherwise. */
  network?: string
  nowMs: number
}

export function ratingOf(walletStatus: WalletStatus, question: Omit<RatingQuestion, 'did'>): Rating | null {
  const evidence = [...walletStatus.evidence].flatMap(([network, seen]) =>
    question.network === undefined || question.network === network ? [seen] : [],
  )
  const { clusters, upheldDisputes } = walletStatus
  return rate({ wallet: question.wallet, evidence, clusters, upheldDisputes, nowMs: question.nowMs })
}

/** The rating in a form that its reader can keep and show to others. */
export function signRating(
  deps: { jws: Pick<JwsPort, 'sign'>; issuer: string },
  walletStatus: WalletStatus,
  question: RatingQuestion,
): SignedRating | null {
  const rating = ratingOf(walletStatus, question)
  if (rating === null) return null
  const claims = {
    subject: question.did,
    method: ratingMethod,
    issuer: deps.issuer,
    ...rating,
    computed_at: new Date(question.nowMs).toISOString(),
    valid_until: new Date(question.nowMs + validMs).toISOString(),
  }
  return { ...claims, jws: deps.jws.sign(claims as unknown as Json) }
}
