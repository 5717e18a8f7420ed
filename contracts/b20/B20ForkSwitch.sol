// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Which fork the stand-in plays: slot 0 holds 1 Beryl, 2 Cobalt or 3 Denim, and an empty slot means the newest.
/// It is storage, so a read at an old block runs the rules of that block, as on the real chain.
contract B20ForkSwitch {
    uint256 private level;

    fallback(bytes calldata) external returns (bytes memory) {
        return abi.encode(level == 0 ? 3 : level);
    }
}
