// Buys at several processes at once. Payments are signed before the clock runs.
import { type NextRequest, openRequests, type RequestPlan } from '../load/requests.ts'
import { runLoad } from '../load/run-load.ts'
import { answerCommands, cpuMicros } from '../process/commands.ts'

type Target = { port: number; plan: RequestPlan }

let ready: { port: number; next: NextRequest }[] = []

answerCommands(
  {
    prepare: (targets: readonly Target[]) => {
      ready = targets.map(({ port, plan }) => ({ port, next: openRequests(plan) }))
    },
    go: async ({ connections, secondsMax = 60 }: { connections: number; secondsMax?: number }) => {
      const cpuBefore = cpuMicros()
      const results = await Promise.all(ready.map(({ port, next }) => runLoad({ port, connections, secondsMax }, next)))
      const statuses: Record<string, number> = {}
      for (const result of results)
        for (const [status, count] of Object.entries(result.statuses))
          statuses[status] = (statuses[status] ?? 0) + count
      return {
        statuses,
        seconds: Math.max(...results.map(({ seconds }) => seconds)),
        cpuMicros: cpuMicros() - cpuBefore,
      }
    },
  },
  async () => {},
)
