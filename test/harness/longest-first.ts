import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** In this order, before all others: a long file that starts last leaves one core idle until it ends. */
const longest = ['test/console.browser.test.ts', 'test/hostile-input.test.ts']

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
