import { openSocketPool, type SocketPool } from '../../bench/load/socket-pool.ts'

export type Offered = { latenciesMs: number[]; statuses: Map<number, number>; broken: number; lateMs: number }

/** Requests at their time, whether the last ones were answered or not; waiting counts from when each was due. */
export async function offer(
  port: number,
  plan: { perSecond: number; seconds: number; request(index: number): Buffer },
): Promise<Offered> {
  const pool = openSocketPool(port)
  try {
    return await offerTo(pool, plan)
  } finally {
    pool.close()
  }
}

async function offerTo(
  pool: SocketPool,
  { perSecond, seconds, request }: { perSecond: number; seconds: number; request(index: number): Buffer },
): Promise<Offered> {
  const offered: Offered = { latenciesMs: [], statuses: new Map(), broken: 0, lateMs: 0 }
  const whole = Math.round(perSecond * seconds)
  const startedMs = performance.now()
  const open: Promise<void>[] = []
  for (let sent = 0; sent < whole; ) {
    const due = Math.min(whole, Math.floor(((performance.now() - startedMs) / 1000) * perSecond) + 1)
    for (; sent < due; sent += 1) {
      const dueMs = startedMs + (sent / perSecond) * 1000
      offered.lateMs = Math.max(offered.lateMs, performance.now() - dueMs)
      open.push(
        pool.send(request(sent)).then(
          ({ status }) => {
            offered.latenciesMs.push(performance.now() - dueMs)
            offered.statuses.set(status, (offered.statuses.get(status) ?? 0) + 1)
          },
          () => {
            offered.broken += 1
          },
        ),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(open)
  return offered
}
