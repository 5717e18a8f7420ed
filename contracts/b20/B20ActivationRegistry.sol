// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {B20Rules} from "./B20Rules.sol";

/// Stand-in of the activation registry: which features may be used for new things.
contract B20ActivationRegistry {
    event FeatureActivated(bytes32 indexed feature, address indexed caller);
    event FeatureDeactivated(bytes32 indexed feature, address indexed caller);
    event AdminChanged(address indexed previousAdmin, address indexed newAdmin, address indexed caller);

    error Unauthorized(address caller);
    error AlreadyActivated(bytes32 feature);
    error FeatureNotActivated(bytes32 feature);
    error ZeroAdminAddress();

    struct Layout {
        mapping(bytes32 feature => bool) features;
        address admin;
    }

    // ERC-7201 root of "base.activation_registry".
    bytes32 private constant ROOT = 0x43ee1bbe25e988521cccd8b2c8fbd38c8287ebff8e074e825a70dfd3885cce00;

    function layout() private pure returns (Layout storage at) {
        assembly {
            at.slot := ROOT
        }
    }

    modifier onlyAdmin() {
        if (msg.sender != admin()) revert Unauthorized(msg.sender);
        _;
    }

    function isActivated(bytes32 feature) external view returns (bool) {
        return layout().features[feature];
    }

    function checkActivated(bytes32 feature) external view {
        if (!layout().features[feature]) revert FeatureNotActivated(feature);
    }

    function admin() public view returns (address) {
        return layout().admin;
    }

    function activate(bytes32 feature) external onlyAdmin {
        if (layout().features[feature]) revert AlreadyActivated(feature);
        layout().features[feature] = true;
        emit FeatureActivated(feature, msg.sender);
    }

    function deactivate(bytes32 feature) external onlyAdmin {
        if (!layout().features[feature]) revert FeatureNotActivated(feature);
        layout().features[feature] = false;
        emit FeatureDeactivated(feature, msg.sender);
    }

    function setAdmin(address newAdmin) external {
        B20Rules.since(B20Rules.COBALT);
        if (msg.sender != admin()) revert Unauthorized(msg.sender);
        if (newAdmin == address(0)) revert ZeroAdminAddress();
        emit AdminChanged(admin(), newAdmin, msg.sender);
        layout().admin = newAdmin;
    }

    fallback() external {
        B20Rules.unknownCall();
    }
}
