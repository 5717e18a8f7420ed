import type { OpenShop } from '../../http/index.ts'
import { transparencyLog } from '../../shops/ports.ts'
import { anchorCheckpoint } from '../../tlog/anchor-checkpoint.ts'
import { collectCosignatures, logOrigin, logPath, openLog, openWitnesses, parseLogSettings } from '../../tlog/index.ts'
import { logRoutes } from './routes.ts'

/** The transparency log of the node: opened before the shops that write to it. `settings` is the JSON of `CITATIONS`. */
export function openLogFace(options: { settings?: unknown } = {}): OpenShop {
  return async (context) => {
    const { database, clock, log, metrics, keyring, apiUrl, base } = context
    const settings = parseLogSettings(options.settings, context.mode === 'demo')
    const origin = await logOrigin(database, `${new URL(apiUrl).host}${logPath}`)
    const tree = openLog({ database, clock, metrics, keyring, origin })
    const witnesses = await openWitnesses(context, tree, settings)
    context.ports.offer(transparencyLog, { tree, witnessKeys: () => witnesses.map(({ key }) => key.vkey) })
    return {
      routes: logRoutes({ database, tree, witnesses, apiUrl }),
      jobs: [
        {
          name: 'log.anchor',
          intervalMs: settings.anchorMs,
          work: async () => {
            for (const { chain, rpc, wallets } of context.payouts()?.chains ?? [])
              if (wallets && chain.network.caip2 === base.caip2)
                await anchorCheckpoint({ database, clock, log, tree }, { network: chain.network, chain, rpc, wallets })
          },
        },
        {
          name: 'log.integrate',
          intervalMs: 1_000,
          work: async () => {
            await tree.integrate()
            await collectCosignatures({ database, log, metrics, tree }, witnesses)
          },
        },
      ],
    }
  }
}
