import { ordinary, outboundFor } from './outbound.fixture.ts'

// Its own process: its memory is that of the fetcher and of nothing else. Arguments: port, then paths.
const [port, ...paths] = process.argv.slice(2)
const outbound = outboundFor({
  loopbackHosts: new Map([['site.test', { address: '127.0.0.1', port: Number(port) }]]),
})
const collect = globalThis.gc ?? (() => {})
for (let warm = 0; warm < 3; warm += 1) await outbound.fetch('http://site.test/plain', ordinary)
const results: Record<string, { outcome: string; risenMb: number }> = {}
for (const path of paths) {
  for (const onTooLarge of ['fail', 'cut'] as const) {
    collect()
    const before = process.memoryUsage.rss()
    let peak = before
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 1)
    const outcome = await outbound.fetch(`http://site.test${path}`, { ...ordinary, onTooLarge })
    clearInterval(watch)
    peak = Math.max(peak, process.memoryUsage.rss())
    results[`${path} ${onTooLarge}`] = {
      outcome: outcome.status === 'ok' ? `ok ${outcome.bytes.byteLength}` : outcome.reason,
      risenMb: (peak - before) / 1024 / 1024,
    }
  }
}
process.stdout.write(JSON.stringify(results))
process.exit(0)
