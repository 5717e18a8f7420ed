// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// Answers the right word followed by a megabyte, which the asker pays to copy.
contract ReturnBombWallet {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, 1000000)
        }
    }
}
