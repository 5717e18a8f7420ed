import { checkPurchases, keepBuying, type Purchase } from './buyers.ts'
import { openCaller } from './call.ts'
import type { Cluster } from './cluster.ts'
import { createNodeProcess, type NodeProcess } from './node-process.ts'
import { readTerms } from './terms.ts'
import type { Verdict } from './verdict.ts'

export async function restartUnderLoad(
  cluster: Cluster,
  processes: number,
  restarts: number,
  payers: number,
  say: (text: string) => void,
): Promise<Verdict> {
  const nodes = await Promise.all(Array.from({ length: processes }, () => createNodeProcess(cluster)))
  const caller = openCaller(64)
  const faults: string[] = []
  let stopBuying: (() => Promise<Purchase[]>) | undefined
  try {
    await nodes[0]?.start()
    await Promise.all(nodes.slice(1).map((node) => node.start()))
    const terms = await readTerms(caller, nodes[0]?.port ?? 0)
    stopBuying = keepBuying({ caller, terms, nodes, payers })
    for (let turn = 0; turn < restarts; turn += 1) {
      const node = nodes[turn % nodes.length] as NodeProcess
      // Every fourth is not asked: what a crash leaves behind must be just as safe.
      const signal = turn % 4 === 3 ? 'SIGKILL' : 'SIGTERM'
      const code = await node.end(signal)
      if (signal === 'SIGTERM' && code !== 0) faults.push(`a drained process ended with ${code}`)
      await node.start()
      say(`  restart ${turn + 1} of ${restarts} (${signal})`)
    }
    const purchases = await stopBuying()
    stopBuying = undefined
    return {
      name: `${restarts} rolling restarts under load, every fourth killed`,
      asked: 'no paid request lost',
      ...(await checkPurchases(cluster, terms, purchases, faults)),
    }
  } finally {
    await stopBuying?.()
    caller.close()
    await Promise.all(nodes.map((node) => node.end('SIGTERM')))
  }
}
