import { answerCommands, cpuMicros } from '../process/commands.ts'
import { openNotesShop } from './notes-shop.ts'
import { startStubbedNode } from './stubbed-node.ts'

// The till alone: the peers have one route each, and what other shops do in the background is no part of a request.
const node = await startStubbedNode({ shops: [openNotesShop], ownShops: 'till' })

answerCommands(
  {
    port: () => Number(new URL(node.address).port),
    cpu: cpuMicros,
  },
  () => node.stop(),
)
