import { postJson } from '../harness/post-json.ts'
import { askPrice, pay, type Scene, sign } from './buyers.ts'
import { newOrder } from './perform-buyers.ts'
import { has } from './shops.ts'
import type { Step } from './steps.ts'

/** Some series that is traded now; undefined where there is no exchange. */
async function someSeries({ world }: Scene, step: Step): Promise<string | undefined> {
  if (!has(world.seed, 'exchange')) return undefined
  const { rows } = await world.db.owner.query<{ symbol: string }>(
    `select symbol from option_series where state = 'trading' and last_trade_at > to_timestamp($1) order by symbol limit 6`,
    [world.time.nowMs() / 1000],
  )
  return rows[step.b % Math.max(1, rows.length)]?.symbol
}

/** A series may close or sell out meanwhile, so nobody is owed a contract for having asked. */
async function trade(scene: Scene, step: Step, path: string, body: Record<string, unknown>): Promise<boolean> {
  const order = { ...newOrder(scene, step, path, 0n, postJson(body)), honest: false }
  scene.history.orders[scene.history.orders.length - 1] = order
  const offer = await askPrice(scene, order)
  // What has no price at the moment is answered by a 402 with nothing to sign.
  if (offer === undefined || offer.accepts.length === 0) return false
  return (await pay(scene, order, await sign(scene, order, offer))) === 200
}

export async function buyOption(scene: Scene, step: Step): Promise<boolean | undefined> {
  const symbol = await someSeries(scene, step)
  return symbol === undefined ? undefined : trade(scene, step, '/v1/options/buy', { symbol })
}

export async function writeOption(scene: Scene, step: Step): Promise<boolean | undefined> {
  const symbol = await someSeries(scene, step)
  if (symbol === undefined) return undefined
  return trade(scene, step, '/v1/options/write', { symbol, premium_usd: String(51 + (step.c % 30)), quantity: 1 })
}
