import type { Address } from '@assay/protocol/address'
import type { TokenMaker } from '@assay/till/signing'
import type { Tx } from '@assay/till/store/database'
import { computeTerm, type Term, withPauses } from './compute-term.ts'
import { outagesSince, recordExtension } from './outage-store.ts'
import { endPause, pausesOf } from './pause-store.ts'
import type { Product } from './policy.ts'
import {
  activePurchases,
  findSubscription,
  insertPurchase,
  lockWallet,
  type NewPurchase,
  retireToken,
  revokePurchases,
  type Subscription,
  saveSubscription,
  saveTerm,
} from './store.ts'

/** A token is named by its wallet and a counter; what it opens is looked up. */
export const tokenName = (wallet: Address, version: number, product: Product = 'feeds'): string =>
  product === 'feeds' ? `${wallet} ${version}` : `${wallet} ${product} ${version}`

/** Adds a bought period. A wallet that revoked its token gets a fresh one, for it cannot use what it pays for otherwise. */
export async function grantPeriod(
  tx: Tx,
  tokens: TokenMaker,
  purchase: NewPurchase,
  nowMs: number,
): Promise<Subscription> {
  await lockWallet(tx, purchase.wallet)
  // A wallet that pays wants to use what it pays for.
  await endPause(tx, purchase.wallet, purchase.product ?? 'feeds', nowMs)
  await insertPurchase(tx, purchase)
  const subscription = await recomputeTerm(tx, tokens, purchase.wallet, purchase.product ?? 'feeds', nowMs)
  if (!subscription) throw new Error(`${purchase.paymentId} bought nothing`)
  return subscription
}

/** Takes a period back: what is left is what the other purchases add up to. */
export async function revokePeriod(tx: Tx, tokens: TokenMaker, paymentId: string, nowMs: number): Promise<void> {
  const revoked = await revokePurchases(tx, paymentId, nowMs)
  if (revoked === undefined) return
  const { wallet, product } = revoked
  await lockWallet(tx, wallet)
  const left = await recomputeTerm(tx, tokens, wallet, product, nowMs)
  if (left) return
  // Nothing remains: the row stays, so that its token is known as expired and not as unknown.
  await tx.query(
    `update subscription set until_at = least(until_at, $2), changed_at = $2 where wallet = $1 and product = $3`,
    [wallet, new Date(nowMs), product],
  )
}

/** Counts again with the outages known by now; the token stays as it is. */
export async function countAgain(tx: Tx, wallet: Address, product: Product, nowMs: number): Promise<void> {
  await lockWallet(tx, wallet)
  const [before, term] = [await findSubscription(tx, wallet, product), await termOf(tx, wallet, product, nowMs)]
  if (!term) return
  await saveTerm(tx, wallet, product, term, nowMs)
  const addedMs = term.extendedMs - (before?.extendedMs ?? 0)
  if (addedMs !== 0) await recordExtension(tx, { wallet, product, addedMs, untilMs: term.untilMs, atMs: nowMs })
}

async function termOf(tx: Tx, wallet: Address, product: Product, nowMs: number): Promise<Term | undefined> {
  const purchases = await activePurchases(tx, wallet, product)
  const outages = await outagesSince(tx, product, purchases[0]?.boughtAtMs ?? nowMs)
  return computeTerm(purchases, withPauses(outages, await pausesOf(tx, wallet, product, nowMs)))
}

async function recomputeTerm(
  tx: Tx,
  tokens: TokenMaker,
  wallet: Address,
  product: Product,
  nowMs: number,
): Promise<Subscription | undefined> {
  const term = await termOf(tx, wallet, product, nowMs)
  if (!term) return undefined
  const known = await findSubscription(tx, wallet, product)
  const subscription =
    known?.tokenHash == null
      ? await withToken(tx, tokens, {
          ...term,
          wallet,
          product,
          pausedAtMs: known?.pausedAtMs ?? null,
          tokenVersion: (known?.tokenVersion ?? 0) + 1,
        })
      : { ...known, ...term }
  await saveSubscription(tx, subscription, nowMs)
  return subscription
}

/** The old token opens nothing from this transaction on. */
async function changeToken(
  tx: Tx,
  { wallet, product, nowMs }: { wallet: Address; product: Product; nowMs: number },
  change: (known: Subscription) => Subscription | Promise<Subscription>,
): Promise<Subscription | undefined> {
  await lockWallet(tx, wallet)
  const known = await findSubscription(tx, wallet, product)
  if (!known) return undefined
  if (known.tokenHash) await retireToken(tx, known.tokenHash, wallet, nowMs)
  const subscription = await change(known)
  await saveSubscription(tx, subscription, nowMs)
  return subscription
}

export const rotateToken = (tx: Tx, tokens: TokenMaker, wallet: Address, nowMs: number, product: Product = 'feeds') =>
  changeToken(tx, { wallet, product, nowMs }, (known) =>
    withToken(tx, tokens, { ...known, tokenVersion: known.tokenVersion + 1 }),
  )

/** No token opens this subscription until the wallet rotates or renews; its own proof still does. */
export const revokeToken = (tx: Tx, wallet: Address, nowMs: number, product: Product = 'feeds') =>
  changeToken(tx, { wallet, product, nowMs }, (known) => ({ ...known, tokenHash: null }))

async function withToken(
  tx: Tx,
  tokens: TokenMaker,
  subscription: Omit<Subscription, 'tokenHash' | 'tokenSecret'>,
): Promise<Subscription> {
  const issue = await tokens.issuer(tx)
  const { wallet, tokenVersion, product } = subscription
  const { hash, secretVersion } = issue(tokenName(wallet, tokenVersion, product))
  return { ...subscription, tokenHash: hash, tokenSecret: secretVersion }
}
