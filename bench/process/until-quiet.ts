import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from './child.ts'

const quietShare = 0.05
const quietWithinMs = 60_000

/** What a node does once after its start is no part of what a request costs. */
export async function untilQuiet(server: Child): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    const [before, beforeMs] = [await server.ask<number>('cpu'), performance.now()]
    await sleep(500)
    const micros = (await server.ask<number>('cpu')) - before
    if (micros < quietShare * (performance.now() - beforeMs) * 1000) return
    if (performance.now() - startedMs > quietWithinMs) return
  }
}
