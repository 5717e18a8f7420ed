import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openNotesShop } from './notes-shop.ts'
import { startStubbedNode } from './stubbed-node.ts'

const node = await startStubbedNode({ shops: [openNotesShop] })

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
  },
  () => node.stop(),
)
