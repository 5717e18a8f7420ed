import { createHttpApp, createRegistry, type openListener } from '../../packages/node/src/http/index.ts'
import type { Shop } from '../../packages/node/src/shops/shop.ts'
import { systemClock } from '../../packages/till/src/kernel/clock.ts'
import { createIds } from '../../packages/till/src/kernel/ids.ts'
import { silentLog } from '../../packages/till/src/kernel/log.ts'
import { silentMetrics } from '../../packages/till/src/kernel/metrics.ts'
import { systemRng } from '../../packages/till/src/kernel/random.ts'
import { createResponseSigner, type Keyring } from '../../packages/till/src/signing/index.ts'

export type Listener = Awaited<ReturnType<typeof openListener>>

/** One shop alone behind the real HTTP app, for a parent that asks how much of the processor it took. */
export async function serveShop(listener: Listener, routes: Shop['routes'], keyring: Keyring): Promise<void> {
  await listener.serve(
    createHttpApp({
      registry: createRegistry(routes),
      gate: { challenge: () => undefined, pass: () => Promise.reject(new Error('nothing is sold here')) },
      signer: createResponseSigner(keyring, { clock: systemClock }),
      config: {
        baseUrl: listener.url,
        apiUrl: listener.url,
        demo: true,
        royaltyRecipient: `0x${'11'.repeat(20)}`,
        contentLicense: 'LicenseRef-Assay-1.0',
        limits: { perSecond: 1e9, burst: 1e9, badPaymentsPerMinute: 1e9 },
      },
      clock: systemClock,
      ids: createIds(systemClock, systemRng),
      log: silentLog,
      metrics: silentMetrics,
      readiness: { refusal: () => undefined },
    }),
  )
  process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
  process.on('disconnect', () => process.exit(0))
}
