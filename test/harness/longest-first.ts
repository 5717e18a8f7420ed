import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In this order, before all others: a long file that starts last leaves one core idle until it ends. */
const longest = [
  'test/kill-points.test.ts',
  'test/console.browser.test.ts',
  'test/packed.test.ts',
  'test/simulation.test.ts',
  'packages/till/src/store/open-store.db.test.ts',
  'test/hostile-input.test.ts',
  'test/restore-log.test.ts',
  'test/shops-removed.test.ts',
  'test/creator-moves.test.ts',
  'test/secrets-stay-in.test.ts',
  'test/matrix.test.ts',
  'test/log-monitor.test.ts',
  'test/readme.test.ts',
  'test/mesh.test.ts',
  'test/intents.test.ts',
  'test/evidence-python.test.ts',
  'test/commerce-stopped-node.test.ts',
  'packages/node/src/tlog/restored-log.db.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = longest.indexOf(relative(this.ctx.config.root, moduleId))
      return index < 0 ? longest.length : index
    }
    // Stable: among the others the order of the runner stands.
    return (await super.sort(files)).sort((one, other) => place(one) - place(other))
  }
}
