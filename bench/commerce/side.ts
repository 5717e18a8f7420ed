// The node of the paid figure, whose sale hooks can be switched off: the difference is what they cost.
import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openDatabaseCpu } from '../process/database-cpu.ts'
import { startStubbedNode } from '../sides/stubbed-node.ts'

let hooksOn = true

const node = await startStubbedNode({
  intercept: {
    shop: (shop) =>
      shop.saleHooks === undefined
        ? shop
        : {
            ...shop,
            saleHooks: shop.saleHooks.map((hook) => async (tx, sales) => {
              if (hooksOn) await hook(tx, sales)
            }),
          },
  },
})
const databaseCpu = await openDatabaseCpu(node.databaseUrl)

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
    database_cpu: databaseCpu.micros,
    hooks: (on: boolean) => {
      hooksOn = on
    },
  },
  async () => {
    await databaseCpu.close()
    await node.stop()
  },
)
