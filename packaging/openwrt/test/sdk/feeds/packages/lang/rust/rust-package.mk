# Stands in for rust-package.mk of the packages feed: what is "built" holds the words that cargo would be given.
PKG_INSTALL_DIR = $(PKG_BUILD_DIR)/install

define Build/Compile/Cargo
	mkdir -p $(PKG_INSTALL_DIR)/bin
	printf '%s\n' $(1) $(2) > $(PKG_INSTALL_DIR)/bin/meshpaced
endef
