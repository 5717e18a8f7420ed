import type { Interceptors } from '../../packages/node/src/compose/infrastructure.ts'
import { type RunningNode, startNode } from '../../packages/node/src/node.ts'
import { parseConfig } from '../../packages/node/src/shop-list.ts'
import type { OpenShop } from '../../packages/node/src/shops/shop.ts'
import type { Log } from '../../packages/till/src/kernel/log.ts'
import type { Rng } from '../../packages/till/src/kernel/random.ts'
import type { Database, Statement } from '../../packages/till/src/store/database.ts'
import { hostileFacilitator } from '../harness/hostile-facilitator.ts'
import type { createView } from './chain-views.ts'
import { createCrashablePorts } from './crashable-ports.ts'
import type { FaultPlan } from './fault-plan.ts'
import { beginLife, type Life, type VirtualTime } from './virtual-time.ts'

/** Wraps the ports of the node for a whole run; a planted fault is one that should not be there. */
export type Plant = (intercept: Interceptors) => Interceptors

/** What went through the database port of all processes; with what steps did by themselves it is all that was asked. */
export type Tally = { statements: number; promisedDraws: number; asked: number }

/** A price that is taken once the answer is ready, instead of being set aside before. */
function count(tally: Tally, statement: string | Statement): void {
  tally.statements += 1
  if (typeof statement === 'string' || statement.name !== 'credit_reserve') return
  if (statement.values?.at(-1) === true) tally.promisedDraws += (statement.values[0] as unknown[]).length
}

export type ProcessSetup = {
  time: VirtualTime
  plan: FaultPlan
  rng: Rng
  /** Of all processes, one after the other. */
  sessions: Database
  views: ReadonlyMap<string, ReturnType<typeof createView>>
  environment: Record<string, string>
  shops: readonly OpenShop[]
  plant: Plant
  log: Log
  tally: Tally
  /** Whether timers strike late. */
  late: boolean
}

export type NodeProcess = {
  node: RunningNode
  life: Life
  /** Kills it; what its database connections had open is undone. */
  kill(): Promise<void>
  /** Lets it finish what it has begun, as an operator does who replaces it. */
  drain(): Promise<void>
}

/** A start that fails or dies is followed by another, as under any supervisor; but not for ever. */
const startsMax = 4
/** Files and connections of a process that starts or ends are not counted by any port. */
const patienceMs = 60
/** Within the window of every authorization. */
const lateMs = 20_000

export async function startProcess(setup: ProcessSetup, attempt = 1): Promise<NodeProcess> {
  const { time, plan, rng, log } = setup
  const life = beginLife({ late: setup.late })
  const clock = time.clockFor(life)
  const ports = createCrashablePorts(life, time, plan, setup.sessions, (statement) => count(setup.tally, statement))
  const schema = isStalled(time)
  const intercept = setup.plant({
    ...ports.intercept,
    database: (real) => {
      schema.isThere()
      return ports.intercept.database?.(real) ?? real
    },
    rpc: (endpoint) => {
      const view = setup.views.get(endpoint.name)
      if (!view) throw new Error(`no view is called ${endpoint.name}`)
      return { name: view.name, send: (calls) => ports.pass(() => view.send(calls)) }
    },
    facilitator: (real) =>
      hostileFacilitator(real, {
        faults: plan.facilitator,
        rng,
        hang: () => clock.sleep(120_000),
        late: (settle) =>
          void clock
            .sleep(lateMs)
            .then(settle, () => {})
            .catch(() => {}),
      }),
  })
  const starting = startNode(parseConfig(setup.environment), {
    clock,
    rng,
    log,
    intercept,
    trustExamples: true,
    ownShops: 'till',
    shops: setup.shops,
    // Claims come due within a run.
    channels: { claimMicro: 6_000n, claimAfterSeconds: 120 },
  })
  const node = await time.until(
    Promise.race([starting, whenEnded(life)]).catch((error: unknown) => {
      if (attempt >= startsMax) throw error
    }),
    patienceMs,
  )
  schema.isThere()
  if (!node) {
    await ports.bury()
    return startProcess(setup, attempt + 1)
  }
  const kill = async () => {
    life.end()
    await ports.bury()
    void node.stop()
  }
  return {
    node,
    life,
    kill,
    drain: async () => {
      await time.until(Promise.race([node.stop(), whenEnded(life)]), patienceMs)
      await kill()
    },
  }
}

/** A start makes the schema with its own connections, before it has its port to the database. */
function isStalled(time: VirtualTime): { isThere(): void } {
  let isThere = () => {}
  void time.busy(() => new Promise<void>((resolve) => (isThere = resolve)))
  return { isThere: () => isThere() }
}

const whenEnded = (life: Life) =>
  new Promise<undefined>((resolve) => life.ended.addEventListener('abort', () => resolve(undefined), { once: true }))
