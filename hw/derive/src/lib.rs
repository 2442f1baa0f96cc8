//! Macros of the card.
//!
//! * `#[hdl_gen]` keeps a kernel as data for `optireduce_hw::hdl::kernel`.
//! * `#[sections]` splits a kernel into several functions.
//! * `#[derive(LogicBlock)]` makes a struct a block, which skips passes without effect.
//! * `#[derive(LogicStruct)]` makes a struct one word.
//! * `#[derive(Ports)]` lets other simulators set and read the ports of a block.
//!
//! `hdl_gen` and `LogicStruct` replace rust-hdl's macros with a fraction of the generated code.
//! `LogicBlock` replaces rust-hdl's, which updates every block in every pass.
//! `Ports` exists because rust-hdl shows signals to visitors read-only, and a Verilated model must
//! write the outputs.
//! Limits: types are recognised by their spelling, so a type alias is not a port.

mod block;
mod fields;
mod kernel;
mod sections;

use proc_macro::TokenStream;
use quote::quote;
use syn::parse::Nothing;
use syn::{
    Data, DeriveInput, Error, Fields, GenericArgument, ItemFn, ItemImpl, PathArguments, Type, parse_macro_input,
};

/// Generates `connect` and `hdl` for a kernel, in place of rust-hdl's attribute of this name.
///
/// # Errors
/// Rejects code without a Verilog equivalent, and constructs that the card does not use.
#[proc_macro_attribute]
pub fn hdl_gen(_: TokenStream, item: TokenStream) -> TokenStream {
    let kernel = parse_macro_input!(item as ItemFn);
    kernel::expand(&kernel).into()
}

/// Lets a kernel call the other functions of its `impl`, its sections.
///
/// Each call is replaced by the section's statements before `#[hdl_gen]` reads the kernel.
///
/// ```text
/// #[sections]
/// impl Logic for Finisher {
///     #[hdl_gen]
///     fn update(&mut self) {
///         dff_setup!(self, clock, state);
///         self.find_room();
///         match self.state.q.val() {
///             FinishState::Idle => self.find_work(),
///             FinishState::Report => self.order_report(),
///         }
///     }
///
///     /// Finds which completion rings have room.
///     fn find_room(&mut self) {
///         self.room.d.next = self.has_room.val();
///     }
///     ...
/// }
/// ```
///
/// # Errors
/// If a section is missing, uncalled, called twice, undocumented or not written
/// `fn name(&mut self)`.
#[proc_macro_attribute]
pub fn sections(arguments: TokenStream, item: TokenStream) -> TokenStream {
    parse_macro_input!(arguments as Nothing);
    let block = parse_macro_input!(item as ItemImpl);
    sections::expand(block).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a struct of signals and blocks a block, as rust-hdl's macro of this name.
///
/// A pass is skipped where it cannot change a value.
#[proc_macro_derive(LogicBlock)]
pub fn logic_block(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    block::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a struct of signal types one word, its first field in the low bits.
#[proc_macro_derive(LogicStruct)]
pub fn logic_struct(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fields::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `optireduce_hw::hdl::ports::Ports` by passing the rows to every port.
///
/// Ports are fields of type `Signal<In, _>` or `Signal<Out, _>`, or arrays of them.
#[proc_macro_derive(Ports)]
pub fn ports(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    let Data::Struct(syn::DataStruct { fields: Fields::Named(fields), .. }) = &input.data else {
        return Error::new_spanned(&input.ident, "Ports: expected a block, a struct with named fields")
            .into_compile_error()
            .into();
    };
    let ports = fields.named.iter().filter(|field| is_signal(&field.ty, &["In", "Out"])).map(|field| &field.ident);
    let name = &input.ident;
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    quote! {
        impl #impl_generics optireduce_hw::hdl::ports::Ports for #name #type_generics #where_clause {
            fn exchange(&mut self, rows: &mut optireduce_hw::hdl::ports::Rows) {
                #(optireduce_hw::hdl::ports::Ports::exchange(&mut self.#ports, rows);)*
            }
        }
    }
    .into()
}

/// Whether a field is a signal of one of the directions, or an array of such signals.
fn is_signal(ty: &Type, directions: &[&str]) -> bool {
    match ty {
        Type::Array(array) => is_signal(&array.elem, directions),
        Type::Path(path) => path.path.segments.last().is_some_and(|segment| {
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
            let Some(GenericArgument::Type(Type::Path(found))) = arguments.args.first() else { return false };
            segment.ident == "Signal" && directions.iter().any(|direction| found.path.is_ident(direction))
        }),
        _ => false,
    }
}
