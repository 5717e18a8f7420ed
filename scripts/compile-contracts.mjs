// Compiles contracts/ into contracts/artifacts/. With --check it writes nothing and exits 1 if a committed artifact
// differs from what its source compiles to.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const contractsFolder = join(dirname(fileURLToPath(import.meta.url)), '..', 'contracts')
const artifactsFolder = join(contractsFolder, 'artifacts')

const sourcePaths = readdirSync(contractsFolder, { recursive: true })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.sol'))
  .sort()
const sources = Object.fromEntries(
  sourcePaths.map((path) => [path, { content: readFileSync(join(contractsFolder, path), 'utf8') }]),
)

function compile() {
  const settings = {
    evmVersion: 'cancun',
    optimizer: { enabled: true, runs: 10_000 },
    // Without the metadata trailer, equal code has equal bytes whatever comments and paths say.
    metadata: { bytecodeHash: 'none', appendCBOR: false },
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'] } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const complaints = output.errors ?? []
  if (complaints.length > 0) {
    for (const complaint of complaints) console.error(complaint.formattedMessage)
    process.exit(1)
  }
  return output.contracts
}

/** Without the names that types have in the source: they decide nothing. */
const withoutInternalTypes = (abi) =>
  JSON.parse(JSON.stringify(abi, (key, value) => (key === 'internalType' ? undefined : value)))

/** An entry of the interface a line, so that a change shows as the entries it touches. */
const render = ({ abi, bytecode, deployedBytecode }) =>
  `{
 "abi": [${abi.map((entry) => `\n  ${JSON.stringify(entry)}`).join(',')}
 ],
 "bytecode": "${bytecode}",
 "deployedBytecode": "${deployedBytecode}"
}
`

function renderArtifacts(contracts) {
  const artifacts = new Map()
  for (const path of sourcePaths) {
    const contractName = basename(path, '.sol')
    const { abi, evm } = contracts[path][contractName] ?? {}
    // Internal libraries and abstract contracts are part of the contracts that use them; nobody deploys them.
    if (!evm?.bytecode.object || (abi.length === 0 && /^library /m.test(sources[path].content))) continue
    const artifact = {
      abi: withoutInternalTypes(abi),
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
    }
    artifacts.set(contractName, render(artifact))
  }
  return artifacts
}

const artifacts = renderArtifacts(compile())
const committed = existsSync(artifactsFolder) ? readdirSync(artifactsFolder).map((file) => basename(file, '.json')) : []
const orphans = committed.filter((name) => !artifacts.has(name))

if (process.argv.includes('--check')) {
  const changed = [...artifacts].filter(([name, text]) => {
    const path = join(artifactsFolder, `${name}.json`)
    return !existsSync(path) || readFileSync(path, 'utf8') !== text
  })
  for (const [name] of changed) console.error(`${name}: the committed artifact is not what its source compiles to`)
  for (const name of orphans) console.error(`${name}: an artifact without a source`)
  if (changed.length + orphans.length > 0) {
    console.error('run: node scripts/compile-contracts.mjs')
    process.exit(1)
  }
  console.log(`${artifacts.size} contracts match their sources`)
} else {
  mkdirSync(artifactsFolder, { recursive: true })
  for (const name of orphans) rmSync(join(artifactsFolder, `${name}.json`))
  for (const [name, text] of artifacts) writeFileSync(join(artifactsFolder, `${name}.json`), text)
  console.log(`${artifacts.size} contracts compiled`)
}
