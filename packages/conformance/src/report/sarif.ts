import type { Report } from '../run.ts'

const schema = 'https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json'

/** SARIF 2.1.0: a rule for each case, a result for each that failed. */
export function sarifReport({ cases, url, at }: Report): string {
  const uri = new URL(url).href
  const document = {
    $schema: schema,
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'assay-conformance',
            rules: cases.map(({ id, title, why, fix, level }) => ({
              id,
              shortDescription: { text: title },
              fullDescription: { text: why },
              help: { text: fix },
              defaultConfiguration: { level: 'error' },
              properties: { level },
            })),
          },
        },
        invocations: [{ executionSuccessful: true, endTimeUtc: at }],
        results: cases.flatMap(({ id, verdict, seen, fix }, ruleIndex) =>
          verdict === 'failed'
            ? {
                ...{ ruleId: id, ruleIndex, level: 'error', message: { text: `${seen}. ${fix}` } },
                locations: [{ physicalLocation: { artifactLocation: { uri } } }],
                // Without it each run would look like new findings.
                partialFingerprints: { 'case/v1': id },
              }
            : [],
        ),
      },
    ],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
